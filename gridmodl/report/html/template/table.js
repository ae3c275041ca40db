// A table that can be sorted by each of its columns and filtered, and shows a page of its rows at a time.

const PAGE_ROWS = 50;
const BRIEF = 18; // letters of a text that stays on one line everywhere,
const SHORT = 40; // of one that does so where there is room
const LONG = 60; // letters of a text that needs a wider column
const LONG_HEAD = 40; // letters of the head of a column,
const HEAD_WORD = 24; // of a word in the head of texts that stays whole
const NARROW = 3; // columns of a table that does not need the whole width
const MARKS = { none: "↕", ascending: "▲", descending: "▼" };

// Columns are { label, format, values, order, shown }; `order` is what to sort by, and `shown` what is written, where that
// is not the values themselves.
class Table {
  constructor(caption, columns) {
    const heading = element("caption", { className: "unseen" }, given(caption)); // its text is beside the button
    this.marked = () => false; // which rows are selected, and
    this.onPick = null; // what a click on a row does
    this.head = element("tr");
    this.rows = element("tbody");
    const table = element("table", {}, heading, element("thead", {}, this.head), this.rows);
    const box = element("div", { className: "scroll", tabIndex: 0, role: "group", "aria-label": caption }, table);
    this.count = element("span", { className: "soft", role: "status" });
    this.back = element("button", { type: "button" }, "Previous");
    this.next = element("button", { type: "button" }, "Next");
    this.back.addEventListener("click", () => this.turn(-1));
    this.next.addEventListener("click", () => this.turn(1));
    this.pager = element("div", { className: "pager" }, this.back, this.next, this.count);
    const save = element("button", { type: "button", className: "csv", "aria-label": `CSV of ${caption}` }, "CSV");
    save.addEventListener("click", () => saveCsv(caption, this.columns));
    const title = element("div", { className: "caption" }, element("span", { "aria-hidden": "true" }, given(caption)), save);
    this.element = element("div", { className: "framed" }, title, box, this.pager);
    this.words = "";
    this.columns = [];
    this.show(columns);
  }

  // Other columns in place of these; the sort stays if its column does.
  show(columns) {
    const by = this.columns[this.by];
    this.columns = columns;
    const values = columns.filter(({ format }) => format === "value");
    this.formats = { ...formats, value: valueWriter(values.map((column) => column.values)) };
    this.kept = null;
    this.by = by ? columns.findIndex((column) => column.label === by.label) : -1;
    this.direction = this.by < 0 ? "none" : this.direction;
    const widths = columns.map(({ format }) => (format === "text" ? 2 : 1));
    this.element.style.setProperty("--columns", widths.reduce((sum, n) => sum + n, 0)); // of many, printed letters are small
    this.element.classList.toggle("narrow", columns.length <= NARROW);
    this.head.replaceChildren(...columns.map((column, j) => this.headCell(column, j)));
    this.arrange();
  }

  headCell(column, j) {
    const label = ends(column.label, LONG_HEAD);
    const button = element("button", { type: "button" }, given(...(column.format === "text" ? words(label, HEAD_WORD) : [label])));
    button.append(element("span", { className: "mark", "aria-hidden": "true" }, MARKS.none));
    button.addEventListener("click", () => this.sortBy(j));
    return element("th", { scope: "col", className: column.format, "aria-sort": "none" }, button);
  }

  // The first click puts the largest numbers, or the first texts, on top; the third restores the order of the model.
  sortBy(j) {
    const turns = this.columns[j].format === "text" ? ["ascending", "descending"] : ["descending", "ascending"];
    const now = this.by === j ? turns.indexOf(this.direction) + 1 : 0;
    this.direction = turns[now] || "none";
    this.by = now < turns.length ? j : -1;
    this.arrange();
  }

  filter(words) {
    this.words = words;
    this.arrange();
  }

  turn(pages) {
    this.page += pages;
    this.draw();
  }

  arrange() {
    const n = this.columns.length ? this.columns[0].values.length : 0;
    this.order = Array.from({ length: n }, (_, i) => i).filter((i) => this.has(i) && this.isKept(i));
    if (this.by >= 0) this.sort(this.columns[this.by]);
    [...this.head.children].forEach((cell, j) => {
      const direction = j === this.by ? this.direction : "none";
      cell.setAttribute("aria-sort", direction);
      cell.querySelector(".mark").textContent = MARKS[direction];
    });
    this.page = 0;
    this.draw();
  }

  // Only the rows that a selection elsewhere keeps; null for all.
  keepOnly(rows) {
    this.kept = rows;
    this.arrange();
  }

  isKept(i) {
    return !this.kept || this.kept.has(i);
  }

  has(i) {
    const isText = (column) => column.format === "text";
    const texts = (c) => (c.shown ? [c.values[i], c.shown[i]] : [c.values[i]]);
    const found = (c) => isText(c) && texts(c).some((text) => text.toLowerCase().includes(this.words));
    return !this.words || this.columns.some(found);
  }

  sort(column) {
    const isText = column.format === "text" && !column.order;
    const keys = isText ? column.values : (column.order || column.values).map(rank);
    const compare = isText ? compareTexts : (a, b) => a - b;
    const sign = this.direction === "ascending" ? 1 : -1;
    this.order.sort((a, b) => sign * compare(keys[a], keys[b]) || a - b);
  }

  draw() {
    const first = this.page * PAGE_ROWS;
    const shown = this.order.slice(first, first + PAGE_ROWS);
    this.rows.replaceChildren(...shown.map((i) => this.row(i)));
    const last = first + shown.length;
    const isWhole = this.order.length <= PAGE_ROWS;
    this.back.hidden = this.next.hidden = isWhole;
    this.pager.hidden = isWhole && !this.words && !this.kept;
    this.back.disabled = first === 0;
    this.next.disabled = last >= this.order.length;
    const all = formats.count(this.order.length);
    this.count.textContent = isWhole ? counted(this.order.length, "row") : `Rows ${first + 1} to ${last} of ${all}`;
  }

  row(i) {
    const row = element("tr", {}, ...this.columns.map((column, j) => this.cell(column, j, i)));
    if (this.marked(i)) row.classList.add("selected");
    if (this.onPick) row.addEventListener("click", () => this.onPick(i));
    if (this.onPick) row.classList.add("pick");
    return row;
  }

  cell(column, j, i) {
    const text = column.shown ? column.shown[i] : this.formats[column.format](column.values[i]);
    const className = column.format === "text" ? textClass(text) : column.format;
    if (j === 0) return element("th", { scope: "row", className }, given(...words(seen(text))));
    return element("td", { className }, column.format === "text" ? given(...words(text)) : text);
  }
}

// Parts of a text that break at its spaces only, not at the signs of short words, nor after the number of a group; words
// of at most `whole` letters nowhere.
function words(text, whole = 0) {
  const isWhole = (word) => word.trim() && (word.length <= whole || (word.length <= BRIEF && /[-:/]/.test(word)));
  return text.split(/((?:^\d+: )?\S+)/).map((word) => (isWhole(word) ? element("span", { className: "word" }, word) : word));
}

// Texts of some length are never broken: dates and numbers would break at their signs.
function textClass({ length }) {
  if (length > LONG) return "text long";
  return length > SHORT ? "text" : length > BRIEF ? "text short" : "text short brief";
}

// The table of a record of the document; `names` are those of parts, as charts have them, beside the labels in files.
function tableOf(record, names = []) {
  const columns = record.head.map((column, j) => ({ ...column, values: record.data[j] }));
  for (const column of columns.filter(({ key }) => key === "part")) {
    column.order = column.values.map((_, i) => i); // parts have an order of their own, which is not that of their names
    if (names.length === column.values.length) column.shown = names;
  }
  const table = new Table(record.caption, columns);
  const note = record.note ? [element("p", { className: "soft" }, record.note)] : [];
  return { table, element: element("div", {}, table.element, ...note) };
}

const columnOf = (record, key) => record.data[record.head.findIndex((column) => column.key === key)];
