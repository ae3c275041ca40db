// The variables of the report, one below the other; what is inside of one is made when it is opened.

const OPEN_AT_FIRST = 3; // one where a grid or another section follows
const MAX_OPENED = 100; // at once
const ORDERS = {
  rank: { label: "Rank", compare: (a, b) => a.rank - b.rank },
  name: { label: "Name", compare: (a, b) => compareTexts(a.variable.name, b.variable.name) },
  parts: { label: "Parts", compare: (a, b) => b.variable.parts - a.variable.parts || a.rank - b.rank },
};

function variablesBlock(section) {
  const most = section.most ?? section.variables.reduce((most, variable) => Math.max(most, variable.worth || 0), 1e-12);
  const entries = (section.entries = section.variables.map((variable, i) => new Entry(section, variable, i, most)));
  const list = element("ol", { className: "variables" }, ...entries.map((entry) => entry.element));
  const block = section.block("variables", entries.length === 1 ? "Variable" : "Variables");
  if (entries.length > 1) block.append(controlsOf(section, entries, list));
  block.append(entries.length ? list : element("p", {}, "No column is informative."));
  const isShort = section.grid || !section.isAlone;
  entries.slice(0, isShort ? 1 : OPEN_AT_FIRST).forEach((entry) => (entry.details.open = true));
  return block;
}

function controlsOf(section, entries, list) {
  const state = { words: "", order: ORDERS.rank };
  const count = element("p", { className: "soft", role: "status" });
  const show = (change) => showEntries(entries, Object.assign(state, change), list, count);
  const search = searchBox("Search names and parts", (words) => show({ words }));
  const group = element("div", { className: "buttons", role: "group", "aria-label": "Order of the variables" });
  for (const order of Object.values(ORDERS)) {
    const button = element("button", { type: "button", "aria-pressed": String(order === state.order) }, order.label);
    button.addEventListener("click", () => {
      [...group.children].forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      show({ order });
    });
    group.append(button);
  }
  show({});
  section.showAll = () => {
    search.querySelector("input").value = "";
    show({ words: "" });
  };
  const sort = element("div", { className: "field" }, element("span", { className: "name" }, "Order by"), group);
  return element("div", {}, element("div", { className: "controls" }, search, sort, foldersOf(entries)), count);
}

// Buttons that open or close all variables that are shown; of many, the first, as each takes a moment to draw.
function foldersOf(entries) {
  const folder = (label, isOpen) => {
    const button = element("button", { type: "button" }, label);
    button.addEventListener("click", () => {
      const shown = entries.filter((entry) => entry.element.isConnected);
      (isOpen ? shown.slice(0, MAX_OPENED) : shown).forEach((entry) => (entry.details.open = isOpen));
    });
    return button;
  };
  const many = entries.length > MAX_OPENED ? `Expand the first ${MAX_OPENED}` : "Expand all";
  const group = element("div", { className: "buttons", role: "group", "aria-label": "Folding of the variables" });
  group.append(folder(many, true), folder("Collapse all", false));
  return element("div", { className: "field" }, element("span", { className: "name" }, "Fold"), group);
}

// Those that are not found leave the list: to hide hundreds of its items takes a browser seconds.
function showEntries(entries, { words, order }, list, count) {
  const found = entries.filter((entry) => !words || entry.text().includes(words)).sort(order.compare);
  list.replaceChildren(...found.map((entry) => entry.element));
  const all = counted(entries.length, "variable");
  count.textContent = words ? `${formats.count(found.length)} of ${all} found` : all;
}

// A variable in the list: a line that opens to its chart and tables.
class Entry {
  constructor(section, variable, rank, most) {
    Object.assign(this, { section, variable, rank, others: [] });
    const words = [variable.kind, variable.size || counted(variable.parts, "part"), ...variable.marks].join(", ");
    const about = element("span", { className: "soft" }, ` ${words}`);
    const name = section.heading(1, "variable", given(seen(variable.name)));
    const summary = element("summary", {}, element("span", {}, name, about));
    if (variable.worth !== null) summary.append(worthOf(section, variable.worth, most));
    this.body = element("div", { className: "body" });
    this.details = element("details", {}, summary, this.body);
    this.details.addEventListener("toggle", () => this.details.open && !this.body.hasChildNodes() && fillBody(this));
    this.element = element("li", {}, this.details);
    this.searched = null; // text of all parts, made at the first letter of a search
  }

  text() {
    const { name, tables, names, values } = this.variable;
    const texts = () => [name, ...(columnOf(tables[0], "part") || []), ...names, ...values.flatMap(({ shown }) => shown)];
    return (this.searched ??= texts().join("\n").toLowerCase());
  }

  // Open it, and bring it into view.
  show() {
    if (!this.element.isConnected) this.section.showAll();
    this.details.open = true;
    comeTo(this.element);
    this.details.firstChild.focus({ preventScroll: true });
  }
}

// A number and a bar, against the largest possible, or else the largest of the section.
function worthOf({ worth: what, digits = 4 }, worth, most) {
  const bar = element("span");
  bar.style.width = `${(100 * Math.max(0, worth)) / most}%`;
  const track = element("span", { className: "track", "aria-hidden": "true" }, bar);
  return element("span", { className: "worth" }, track, element("span", {}, `${what} ${worth.toFixed(digits)}`));
}

function fillBody({ section, variable, body, others }) {
  if (others.length) body.append(otherSections(others));
  if (variable.about) body.append(element("p", { className: "soft" }, variable.about));
  body.append(...chartOf(variable));
  if (variable.periods) body.append(periodsOf(variable).element);
  const tables = element("div", { className: "tables" });
  body.append(tables);
  variable.tables.forEach((record, i) => {
    const { table, element: box } = tableOf(record, i === 0 ? variable.names : []);
    if (i === 0) linkParts(section, variable, table);
    tables.append(record.fold ? folded(record.fold, box) : box);
  });
  if (variable.values.length) body.append(valuesOf(variable));
  if (variable.merges.length) body.append(mergesOf(variable));
}

// The same variable in other sections.
function otherSections(others) {
  const links = others.map((other) => {
    const button = element("button", { type: "button", className: "link" }, given(other.section.title));
    button.addEventListener("click", () => other.show());
    return button;
  });
  return element("p", { className: "others soft" }, "Also in: ", ...links);
}

// What it would cost to merge two parts, and how to do it in Python.
function mergesOf(variable) {
  const part = (at) => variable.merges.map(({ parts }) => variable.names[parts[at]]);
  const order = (at) => variable.merges.map(({ parts }) => parts[at]);
  const columns = [
    { label: "part", format: "text", values: part(0), order: order(0) },
    { label: "merged with", format: "text", values: part(1), order: order(1) },
    { label: "cost added, nats", format: "number", values: variable.merges.map(({ delta }) => delta) },
    { label: "cost", format: "cost", values: variable.merges.map(({ cost }) => cost) },
    { label: "argument of Model.edit", format: "text", values: variable.merges.map(({ parts }) => `merge=[${parts}]`) },
  ];
  const table = new Table(`Merges of two parts of ${variable.name}`, columns);
  return folded("What merging two parts would cost", table.element);
}

function valuesOf(variable) {
  const labels = variable.names;
  const items = variable.values.map(({ shown, all }, i) => {
    const more = all > shown.length ? ` … and ${formats.count(all - shown.length)} more` : "";
    const name = element("strong", {}, given(labels[i]), ` (${counted(all, "value")}) `);
    return element("li", {}, name, given(shown.join(", ")), more);
  });
  const list = element("ul", { className: "values" }, ...items);
  return folded("Values of each part", list);
}
