// The page is made from the record of the document.

const report = JSON.parse(document.getElementById("document").textContent);

function sectionOf(id, title) {
  const heading = element("h2", { id: `${id}-title` }, title);
  document.getElementById("nav").append(element("a", { href: `#${id}` }, title));
  return element("section", { id, "aria-labelledby": `${id}-title` }, heading);
}

function tableSection(record, i) {
  const section = sectionOf(`table-${i}`, record.caption);
  const { table, element: box } = tableOf(record);
  if (record.data[0].length > PAGE_ROWS) {
    const search = searchBox(`Search: ${record.caption.toLowerCase()}`, (words) => table.filter(words));
    section.append(element("div", { className: "controls" }, search));
  }
  section.append(box);
  return section;
}

function start() {
  for (const variable of report.variables) variable.names ||= columnOf(variable.tables[0], "part");
  for (const [term, text] of report.facts) {
    const pair = [element("dt", {}, term), element("dd", {}, given(text))];
    document.getElementById("facts").append(element("div", {}, ...pair));
  }
  for (const [term, text] of report.lead) {
    document.getElementById("lead").append(element("dt", {}, term), element("dd", {}, given(text)));
  }
  document.getElementById("about").append(...(report.about ? [given(report.about), " · "] : []), report.date);
  const content = document.getElementById("content");
  content.append(variablesSection());
  if (report.grid) content.append(gridSection(report.grid));
  report.tables.forEach((record, i) => content.append(tableSection(record, i)));
  const nav = document.getElementById("nav");
  nav.append(...nav.querySelectorAll(".jump")); // behind the links to sections
  watchPage();
  document.documentElement.dataset.ready = "true";
}

start();
