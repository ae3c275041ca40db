// A section for each result: what was asked and found, facts, variables, the grid and tables. A page of one result has
// no heading above these, and its links go to them.

class Section {
  constructor(record, number) {
    Object.assign(this, record);
    this.number = number;
    this.isAlone = report.sections.length === 1;
    this.level = this.isAlone ? 2 : 3; // of the headings of its blocks
    this.gridView = null;
    this.linked = []; // tables of the parts of variables: { k, table }
    this.entries = []; // of the variables
    this.blocks = []; // { id, title }
    this.showAll = () => {}; // variables that a search had hidden
    const tables = [...this.tables, ...this.variables.flatMap((variable) => variable.tables)];
    for (const table of tables) table.head = this.heads[table.head];
    for (const variable of this.variables) variable.names ||= columnOf(variable.tables[0], "part");
  }

  // An identifier on the page.
  id(stem) {
    return this.number ? `${stem}-${this.number + 1}` : stem;
  }

  heading(depth, className, ...children) {
    return element(`h${this.level + depth}`, { className }, ...children);
  }

  // A block with its heading, which links and the list of jumps name.
  block(stem, title) {
    const id = this.id(stem);
    const heading = this.heading(0, "block", given(title));
    heading.id = `${id}-title`;
    this.blocks.push({ id, title });
    const names = this.isAlone ? heading.id : `${this.id("result")}-title ${heading.id}`; // no two blocks have one name
    return element("section", { id, "aria-labelledby": names }, heading);
  }

  element() {
    const parts = [];
    if (this.lead.length) parts.push(pairsOf("lead", this.lead, (pair) => pair));
    if (this.facts.length) parts.push(pairsOf("facts", this.facts, (pair) => [element("div", {}, ...pair)]));
    if (this.variables.length || !this.tables.length) parts.push(variablesBlock(this));
    if (this.grid) parts.push(gridBlock(this));
    this.tables.forEach((record, i) => parts.push(this.tableBlock(record, i)));
    if (this.isAlone) return element("div", { className: "result" }, ...parts);
    const heading = element("h2", { id: `${this.id("result")}-title` }, given(this.title));
    const id = this.id("result");
    return element("section", { id, className: "result", "aria-labelledby": heading.id }, heading, ...parts);
  }

  tableBlock(record, i) {
    const block = this.block(`table-${i}`, record.caption);
    const { table, element: box } = tableOf(record, record.names);
    table.element.classList.add("own"); // its caption is the heading
    if (record.chart) block.append(...chartOf({ name: record.caption, chart: record.chart, tables: [record] }));
    if (record.data[0].length > PAGE_ROWS) {
      const search = searchBox(`Search: ${record.caption.toLowerCase()}`, (words) => table.filter(words));
      block.append(element("div", { className: "controls" }, search));
    }
    block.append(box);
    return block;
  }
}

// Terms and texts.
function pairsOf(className, pairs, wrap) {
  const made = pairs.flatMap(([term, text]) => wrap([element("dt", {}, term), element("dd", {}, unbroken(text))]));
  return element("dl", { className }, ...made);
}

// Links to the sections, or to the blocks of the only one, and a list that goes to a block or a variable.
function navigation(sections) {
  const [first] = sections;
  const targets = first.isAlone ? first.blocks : sections.map((section) => ({ id: section.id("result"), title: section.title }));
  const links = targets.map(linkTo);
  const isLong = !first.isAlone || first.variables.length > 1;
  return [...links, ...(isLong ? [jumpList(sections)] : [])];
}

function jumpList(sections) {
  const goes = [() => {}];
  const option = (label, go) => element("option", { value: String(goes.push(go) - 1) }, label);
  const of = (section) => [
    ...(section.isAlone ? [] : section.blocks.map(({ id, title }) => option(title, () => comeTo(document.getElementById(id))))),
    ...section.entries.map((entry) => option(seen(entry.variable.name), () => entry.show())),
  ];
  const groups = sections.flatMap((section) =>
    section.isAlone ? of(section) : [element("optgroup", { label: section.title }, ...of(section))],
  );
  const list = element("select", {}, element("option", { value: "0" }, "…"), ...groups);
  list.addEventListener("change", () => {
    goes[Number(list.value)]();
    list.value = "0";
  });
  return field("Jump to", list, "jump");
}

// Bring a place into view, again while what lies above it takes its height; until the reader does something.
function comeTo(place) {
  const come = () => place.scrollIntoView({ block: "start", behavior: "instant" });
  let left = 10;
  const timer = setInterval(() => (left-- ? come() : stop()), 150);
  const stop = () => {
    clearInterval(timer);
    READING.forEach((what) => removeEventListener(what, stop));
  };
  come();
  READING.forEach((what) => addEventListener(what, stop, { passive: true }));
}

const READING = ["wheel", "touchstart", "keydown", "pointerdown"];

// A link inside the page; its place gets the focus, as the browser would give it.
function linkTo({ id, title }) {
  const link = element("a", { href: `#${id}` }, given(title));
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const place = document.getElementById(id);
    place.tabIndex = -1;
    place.focus({ preventScroll: true });
    comeTo(place);
  });
  return link;
}

// Variables of the same name in other sections lead to one another.
function linkSections(sections) {
  const byName = new Map();
  const entries = sections.flatMap((section) => section.entries);
  for (const entry of entries) byName.set(entry.variable.name, [...(byName.get(entry.variable.name) || []), entry]);
  for (const entry of entries) entry.others = byName.get(entry.variable.name).filter((other) => other.section !== entry.section);
}
