// Tables as CSV files, made in the page: nothing is sent anywhere.

// A text that a spreadsheet would take for a formula gets an apostrophe in front; finite numbers stay numbers.
function csvCell(value) {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvText(columns) {
  const n = columns.length ? columns[0].values.length : 0;
  const lines = [columns.map((column) => csvCell(column.label))];
  for (let i = 0; i < n; i++) lines.push(columns.map((column) => csvCell(column.values[i])));
  return lines.map((cells) => `${cells.join(",")}\r\n`).join("");
}

// Letters and digits of a caption, as the name of a file.
function fileName(caption) {
  const words = caption.normalize("NFKD").replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_+|_+$/g, "");
  return `${[...words].slice(0, 60).join("") || "table"}.csv`;
}

// The mark at the start tells spreadsheets that the text is UTF-8.
function saveCsv(caption, columns) {
  const address = URL.createObjectURL(new Blob(["\ufeff", csvText(columns)], { type: "text/csv;charset=utf-8" }));
  const link = element("a", { href: address, download: fileName(caption), hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
