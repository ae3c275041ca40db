// A box above the tables of the reference: rows that do not have the words are hidden.
document.addEventListener("DOMContentLoaded", () => {
  const tables = [...document.querySelectorAll("table.autosummary")];
  const heading = document.querySelector("#api-reference");
  if (!heading || tables.length === 0) return;
  const box = document.createElement("input");
  box.type = "search";
  box.className = "form-control api-filter";
  box.placeholder = "Filter: a name or a word of its line";
  box.setAttribute("aria-label", box.placeholder);
  heading.querySelector("p").after(box);
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of document.querySelectorAll("table.autosummary tr")) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    for (const table of tables) {
      const around = table.closest(".pst-scrollable-table-container") || table;
      around.hidden = table.querySelector("tr:not([hidden])") === null;
    }
    for (const rubric of document.querySelectorAll("#api-reference p.rubric")) {
      let any = false;
      for (let next = rubric.nextElementSibling; next && !next.matches("p.rubric"); next = next.nextElementSibling) {
        any ||= next.querySelector("tr:not([hidden])") !== null;
      }
      rubric.hidden = !any;
    }
  });
});
