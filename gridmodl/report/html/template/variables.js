// The variables of the report, one below the other; what is inside of one is made when it is opened.

const OPEN_AT_FIRST = 3; // one where a grid follows
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
  const sort = element("div", { className: "field" }, element("span", { className: "name" }, "Order by"), group);
  return element("div", {}, element("div", { className: "controls" }, search, sort), count);
}

// Those that are not found leave the list: to hide hundreds of its items takes a browser seconds.
function showEntries(entries, { words, order }, list, count) {
  const found = entries.filter((entry) => !words || entry.text().includes(words)).sort(order.compare);
  list.replaceChildren(...found.map((entry) => entry.element));
  const all = counted(entries.length, "variable");
  count.textContent = words ? `${formats.count(found.length)} of ${all} found` : all;
}

function entryOf(variable, rank, most) {
  const about = element("span", { className: "soft" }, ` ${variable.kind}, ${counted(variable.parts, "part")}`);
  const summary = element("summary", {}, element("span", {}, element("h3", {}, given(variable.name)), about));
  if (variable.worth !== null) summary.append(worthOf(variable.worth, most));
  const body = element("div", { className: "body" });
  const details = element("details", {}, summary, body);
  details.addEventListener("toggle", () => details.open && !body.hasChildNodes() && fillBody(body, variable));
  let text = null; // of all parts, for the search: made at its first letter
  const words = () => (text ??= [variable.name, ...columnOf(variable.tables[0], "part")].join("\n").toLowerCase());
  return { variable, rank, element: element("li", {}, details), text: words };
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
  body.append(chartOf(variable).element);
  for (const record of variable.tables) body.append(tableOf(record).element);
  if (variable.values.length) body.append(valuesOf(variable));
}

function valuesOf(variable) {
  const labels = columnOf(variable.tables[0], "part");
  const items = variable.values.map(({ shown, all }, i) => {
    const more = all > shown.length ? ` … and ${formats.count(all - shown.length)} more` : "";
    const name = element("strong", {}, `Part ${i + 1}, ${counted(all, "value")}: `);
    return element("li", { "aria-label": labels[i] }, name, given(shown.join(", ")), more);
  });
  const list = element("ul", { className: "values" }, ...items);
  return element("details", { className: "inner" }, element("summary", {}, "Values of each part"), list);
}
