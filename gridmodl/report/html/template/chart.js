// Charts: drawn by Vega-Lite when they come into view or the browser has time, and again when the width or the colours
// of the page change.

const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#f0e442", "#8a8f96"]; // Okabe, Ito
const PIXELS_PER_LETTER = 6.3;

const charts = new Set();
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const observer = new IntersectionObserver(
  (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => entry.target.chart.start()),
  { rootMargin: "200px" },
);

// Charts out of view are drawn one by one when nothing else is to be done, so that a printed page has them.
const waiting = [];
const whenIdle = (run) => (window.requestIdleCallback ? requestIdleCallback(run) : setTimeout(run, 200));

async function drawNext() {
  const chart = waiting[0];
  try {
    if (!chart.isStarted && chart.element.clientWidth) await chart.start();
  } finally { // a chart that fails does not keep the others from being drawn
    waiting.shift();
    if (waiting.length) whenIdle(drawNext);
  }
}

class Chart {
  // `makeSpec` is given the width that there is; `description` is what a screen reader says in place of the picture.
  constructor(description, makeSpec, height = 200) {
    this.makeSpec = makeSpec;
    this.element = element("div", { className: "chart", role: "img" });
    this.element.style.minHeight = `${height}px`;
    this.element.chart = this;
    this.describe(description);
    charts.add(this);
    observer.observe(this.element);
    waiting.push(this);
    if (waiting.length === 1) whenIdle(drawNext);
  }

  describe(description) {
    this.element.setAttribute("aria-label", description);
  }

  start() {
    observer.unobserve(this.element);
    this.isStarted = true;
    return this.draw();
  }

  fit() {
    if (this.width !== this.element.clientWidth) this.draw();
  }

  async draw() {
    const width = this.element.clientWidth;
    if (!this.isStarted || !width) return;
    this.width = width;
    const turn = (this.turn = (this.turn || 0) + 1);
    const spec = { ...this.makeSpec(width), config: theme(), background: "transparent" };
    const host = element("div", { "aria-hidden": "true" });
    const options = { mode: "vega-lite", actions: false, ast: true, defaultStyle: false, tooltip: showTooltip };
    const made = await vegaEmbed(host, spec, { ...options, renderer: "svg" });
    if (turn !== this.turn) return made.finalize(); // a newer one is on its way
    if (this.made) this.made.finalize();
    this.made = made;
    if (this.onClick) made.view.addEventListener("click", (_, item) => item?.datum?.px !== undefined && this.onClick(item.datum));
    this.element.replaceChildren(host);
    this.element.style.minHeight = "";
  }
}

function theme() {
  const [text, soft, line] = ["--text", "--soft", "--line"].map(colour);
  const axis = { labelColor: text, titleColor: text, gridColor: line, domainColor: soft, tickColor: soft };
  return {
    aria: false, // the chart has one description, and its table every number
    font: "sans-serif",
    view: { stroke: null },
    axis: { ...axis, labelFontSize: 11, titleFontSize: 11, titleFontWeight: "normal" },
    legend: { labelColor: text, titleColor: text, labelFontSize: 11, titleFontSize: 11, titleFontWeight: "normal" },
  };
}

// What vega gives for a tooltip is an object of plain values: they go into text nodes.
function showTooltip(handler, event, item, value) {
  const tooltip = document.getElementById("tooltip");
  tooltip.hidden = !value || typeof value !== "object";
  if (tooltip.hidden) return;
  const pair = ([name, text]) => [element("dt", {}, name), element("dd", {}, given(String(text)))];
  tooltip.replaceChildren(element("dl", {}, ...Object.entries(value).flatMap(pair)));
  const point = event.touches ? event.touches[0] || event.changedTouches[0] : event;
  tooltip.style.left = `${beside(point.clientX, tooltip.offsetWidth, innerWidth)}px`;
  tooltip.style.top = `${beside(point.clientY, tooltip.offsetHeight, innerHeight)}px`;
}

// Where something of a size goes: behind a point, before it where the window ends, and never outside.
function beside(point, size, end) {
  const place = point + size + 20 > end ? point - size - 12 : point + 14;
  return Math.max(4, Math.min(place, end - size - 4));
}

const hideTooltip = () => (document.getElementById("tooltip").hidden = true);

// What a link leads to is not below the links, which stay in view on a large screen.
function leaveRoom() {
  const nav = document.getElementById("nav");
  const isSticky = getComputedStyle(nav).position === "sticky";
  document.documentElement.style.setProperty("--nav", `${isSticky ? nav.offsetHeight : 0}px`);
}

function watchPage() {
  let pending;
  const later = () => {
    clearTimeout(pending);
    pending = setTimeout(() => charts.forEach((chart) => chart.fit()), 150);
  };
  addEventListener("resize", later);
  addEventListener("resize", leaveRoom);
  leaveRoom();
  addEventListener("scroll", hideTooltip, { passive: true });
  addEventListener("keydown", (event) => event.key === "Escape" && hideTooltip());
  const isDark = matchMedia("(prefers-color-scheme: dark)");
  isDark.addEventListener("change", () => charts.forEach((chart) => chart.draw()));
}
