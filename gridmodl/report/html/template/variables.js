// The variables of the report, one below the other; what is inside of one is made when it is opened.

const OPEN_AT_FIRST = 3; // one where a grid follows
const MAX_OPENED = 100; // at once
const ORDERS = {
  rank: { label: "Rank", compare: (a, b) => a.rank - b.rank },
  name: { label: "Name", compare: (a, b) => compareTexts(a.variable.name, b.variable.name) },
  parts: { label: "Parts", compare: (a, b) => b.variable.parts - a.variable.parts || a.rank - b.rank },
};

function variablesSection() {
  const most = report.variables.reduce((most, variable) => Math.max(most, variable.worth || 0), 1e-12);
  const entries = report.variables.map((variable, i) => entryOf(variable, i, most));
  const list = element("ol", { className: "variables" }, ...entries.map((entry) => entry.element));
  const section = sectionOf("variables", entries.length === 1 ? "Variable" : "Variables");
  if (entries.length > 1) section.append(controlsOf(entries, list));
  section.append(entries.length ? list : element("p", {}, "No column is informative."));
  entries.slice(0, report.grid ? 1 : OPEN_AT_FIRST).forEach((entry) => (entry.element.firstChild.open = true));
  return section;
}

function controlsOf(entries, list) {
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
  document.getElementById("nav").append(jumpList(entries, () => {
    search.querySelector("input").value = "";
    show({ words: "" });
  }));
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

// A list of all variables beside the links to sections: one opens and comes into view.
function jumpList(entries, show) {
  const names = ["…", ...entries.map(({ variable }) => variable.name)];
  const box = choice("Jump to", names, 0, (i) => {
    if (!i) return;
    const entry = entries[i - 1];
    if (!entry.element.isConnected) show();
    entry.details.open = true;
    const come = () => entry.element.scrollIntoView({ block: "start", behavior: "instant" });
    come();
    setTimeout(come, 300); // again when what lies above it has its height
    entry.details.firstChild.focus({ preventScroll: true });
    box.querySelector("select").value = "0";
  });
  box.classList.add("jump");
  return box;
}

// Those that are not found leave the list: to hide hundreds of its items takes a browser seconds.
function showEntries(entries, { words, order }, list, count) {
  const found = entries.filter((entry) => !words || entry.text().includes(words)).sort(order.compare);
  list.replaceChildren(...found.map((entry) => entry.element));
  const all = counted(entries.length, "variable");
  count.textContent = words ? `${formats.count(found.length)} of ${all} found` : all;
}

function entryOf(variable, rank, most) {
  const words = [variable.kind, counted(variable.parts, "part"), ...variable.marks].join(", ");
  const about = element("span", { className: "soft" }, ` ${words}`);
  const summary = element("summary", {}, element("span", {}, element("h3", {}, given(variable.name)), about));
  if (variable.worth !== null) summary.append(worthOf(variable.worth, most));
  const body = element("div", { className: "body" });
  const details = element("details", {}, summary, body);
  details.addEventListener("toggle", () => details.open && !body.hasChildNodes() && fillBody(body, variable));
  let text = null; // of all parts, for the search: made at its first letter
  const labels = () => [variable.name, ...columnOf(variable.tables[0], "part"), ...variable.names];
  const searched = () => (text ??= labels().join("\n").toLowerCase());
  return { variable, rank, details, element: element("li", {}, details), text: searched };
}

// A number and a bar, against the largest on the page.
function worthOf(worth, most) {
  const bar = element("span");
  bar.style.width = `${(100 * Math.max(0, worth)) / most}%`;
  const track = element("span", { className: "track", "aria-hidden": "true" }, bar);
  return element("span", { className: "worth" }, track, element("span", {}, `${report.worth} ${formats.level(worth)}`));
}

function fillBody(body, variable) {
  if (variable.about) body.append(element("p", { className: "soft" }, variable.about));
  body.append(...chartOf(variable));
  if (variable.periods) body.append(periodsOf(variable).element);
  variable.tables.forEach((record, i) => {
    const { table, element: box } = tableOf(record);
    if (i === 0) linkParts(variable, table);
    body.append(box);
  });
  if (variable.values.length) body.append(valuesOf(variable));
  if (variable.merges.length) body.append(mergesOf(variable));
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
  const head = element("summary", {}, "What merging two parts would cost");
  return element("details", { className: "inner" }, head, table.element);
}

function valuesOf(variable) {
  const labels = variable.names;
  const items = variable.values.map(({ shown, all }, i) => {
    const more = all > shown.length ? ` … and ${formats.count(all - shown.length)} more` : "";
    const name = element("strong", {}, given(labels[i]), ` (${counted(all, "value")}) `);
    return element("li", {}, name, given(shown.join(", ")), more);
  });
  const list = element("ul", { className: "values" }, ...items);
  return element("details", { className: "inner" }, element("summary", {}, "Values of each part"), list);
}
