// The event by part over the rows of the parts, as gridmodl/plot/events.py draws it.

const MANY_TINY = 8; // bars are as wide as the root of their rows where more parts than this
const TINY = 0.01; // have a smaller share of the rows
const ANGLE = -35; // degrees of the names of parts
const OF_LEGEND = 140; // pixels of the name of a class in the legend
const OF_AXIS = 76; // left of the bars, for the first name of a part that is turned
const TURNED_GAP = 24; // pixels between two of them

function eventSpec(variable, width, statistic) {
  const { chart, names } = variable;
  const rows = columnOf(variable.tables[0], "rows");
  const all = rows.reduce((sum, n) => sum + n, 0);
  const byRows = rows.filter((n) => n < TINY * all).length > MANY_TINY;
  const edges = barEdges(rows, byRows);
  const middles = rows.map((_, i) => (edges[i] + edges[i + 1]) / 2);
  const space = Math.max(140, width - 150);
  const end = edges[edges.length - 1];
  const shown = labelled(middles, rows, (TURNED_GAP * end) / space);
  const below = namesBelow(names, { from: edges, to: edges.slice(1), end }, space, OF_AXIS);
  const axis = {
    values: shown.map((i) => middles[i]), labelExpr: "names[indexof(middles, datum.value)]", title: null, grid: false,
    ticks: true, labelOverlap: false, ...below.axis,
  };
  const x = { type: "quantitative", scale: { domain: [0, end], nice: false }, axis };
  const stacks = stacksOf(variable, rows, edges, byRows);
  const marks = chart.events.map((n, part) => markOf(variable, part, middles[part], n + chart.others[part]));
  return {
    params: [{ name: "names", value: below.names }, { name: "middles", value: middles }, { name: "of", value: clipped(stacks.names, OF_LEGEND) }],
    width: space, height: 220, resolve: { scale: { y: "independent" } },
    layer: [rowsLayer(stacks, x, byRows, space), statisticLayer(chart, marks, x, statistic, byRows)],
  };
}

// Edges of bars: one unit each, or as wide as the root of their rows.
function barEdges(rows, byRows) {
  const edges = [0];
  rows.forEach((n) => edges.push(edges[edges.length - 1] + (byRows ? Math.sqrt(n) : 1)));
  return edges;
}

// The parts whose names have room, those with the most rows first.
function labelled(middles, rows, gap) {
  const shown = [];
  const order = rows.map((_, i) => i).sort((a, b) => rows[b] - rows[a] || a - b);
  for (const i of order) if (shown.every((j) => Math.abs(middles[i] - middles[j]) >= gap)) shown.push(i);
  return shown.sort((a, b) => a - b);
}

// Rows of the event below those of the rest and of no class; of their shares where widths are the rows.
function stacksOf(variable, rows, edges, byRows) {
  const { events, others, event, rest } = variable.chart;
  const counts = [events, others, rows.map((n, i) => n - events[i] - others[i])];
  const all = [event, rest, "rows without a class"].slice(0, counts[2].some((n) => n > 0) ? 3 : 2);
  const gap = byRows ? 0 : 0.06;
  const values = rows.flatMap((n, part) => {
    let from = 0;
    return all.map((name, j) => {
      const start = from;
      from += counts[j][part] / (byRows ? Math.max(1, n) : 1);
      return {
        part, left: edges[part] + gap, right: edges[part + 1] - gap, from: start, to: from, stack: j, name,
        label: variable.names[part], rows: formats.count(counts[j][part]), all: formats.count(n),
        share: formats.share(n ? counts[j][part] / n : null),
      };
    });
  });
  return { names: all, values: [1, 0, 2].flatMap((j) => values.filter(({ stack }) => stack === j)) };
}

function rowsLayer(stacks, x, byRows, space) {
  const title = byRows ? "share of the part; widths: root of rows" : "rows";
  const y = {
    field: "from", type: "quantitative", scale: byRows ? { domain: [0, 1] } : {},
    axis: { title, tickCount: 4, format: byRows ? ".0%" : ",d", grid: false, tickMinStep: byRows ? undefined : 1 },
  };
  const range = [PALETTE[1], colour("--pale"), colour("--other")].slice(0, stacks.names.length);
  const columns = Math.max(1, Math.floor(space / (legendRoom(stacks.names, OF_LEGEND + 30) + 30)));
  const legend = { title: null, orient: "top", labelExpr: "of[datum.value]", labelLimit: OF_LEGEND + 20, columns };
  const color = { field: "stack", type: "nominal", scale: { domain: stacks.names.map((_, j) => j), range }, legend };
  return {
    data: { values: stacks.values },
    mark: { type: "rect", stroke: colour("--page"), strokeWidth: 0.5 },
    encoding: {
      x: { field: "left", ...x }, x2: { field: "right" }, y, y2: { field: "to" }, color,
      tooltip: tooltip(["label", "part"], ["name", "class"], ["rows", "its rows"], ["share", "share"], ["all", "all rows"]),
    },
  };
}

function markOf({ chart, names }, part, at, n) {
  const [rate, woe] = n ? [chart.events[part] / n, chart.woe[part]] : [null, null];
  const range = `${formats.share(chart.low[part])} to ${formats.share(chart.high[part])}`;
  return {
    at, part, label: names[part], rate, woe, low: chart.low[part], high: chart.high[part],
    rate_text: formats.share(rate), woe_text: formats.number(woe), range, isLine: isOnLine(chart.line, part),
  };
}

const isOnLine = (line, part) => line !== null && part >= line[0] && part < line[1];

function statisticLayer(chart, marks, x, statistic, byRows) {
  const sum = (of) => of.reduce((total, n) => total + n, 0);
  const isRate = statistic === "rate";
  const average = isRate ? sum(chart.events) / Math.max(1, sum(chart.events) + sum(chart.others)) : 0;
  const values = marks.filter((mark) => mark.rate !== null);
  const top = byRows ? 1 : Math.min(1, 1.08 * Math.max(0.05, ...values.map(({ high }) => high)));
  const title = isRate ? "rate of the event, 90% range" : "weight of evidence";
  const axis = { title, orient: "right", tickCount: 5, grid: false, format: isRate ? "~%" : "~g" };
  const y = (field) => ({ field, type: "quantitative", axis, scale: isRate ? { domain: [0, top] } : {} });
  const ink = colour("--text");
  const tips = tooltip(["label", "part"], ["rate_text", "event rate"], ["range", "90% range"], ["woe_text", "woe"]);
  const along = { x: { field: "at", ...x }, tooltip: tips };
  const line = {
    transform: [{ filter: "datum.isLine" }], mark: { type: "line", color: ink, strokeWidth: 1.2, tooltip: false },
    encoding: { x: along.x, y: y(statistic) },
  };
  const range = { mark: { type: "rule", color: ink }, encoding: { ...along, y: y("low"), y2: { field: "high" } } };
  const point = { type: "point", filled: true, size: 55, color: ink, opacity: 1, stroke: colour("--page"), strokeWidth: 1 };
  const dashed = { type: "rule", strokeDash: [4, 3], color: ink };
  return {
    data: { values },
    layer: [
      { data: { values: [{}] }, mark: dashed, encoding: { y: { datum: average, type: "quantitative", axis, scale: y("").scale } } },
      ...(byRows ? [] : [line]), ...(isRate ? [range] : []),
      { mark: point, encoding: { ...along, y: y(statistic) } },
    ],
  };
}
