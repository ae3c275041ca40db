// The page is made from the record of the document.

const report = JSON.parse(document.getElementById("document").textContent);

function start() {
  document.getElementById("about").append(...(report.about ? [given(report.about), " · "] : []), report.date);
  const sections = report.sections.map((record, i) => new Section(record, i));
  document.getElementById("content").append(...sections.map((section) => section.element()));
  linkSections(sections);
  document.getElementById("nav").append(...navigation(sections));
  watchPage();
  document.documentElement.dataset.ready = "true";
}

start();
