// The probability of a class along a column, averaged over all partitions: a curve with its band, the steps of the best
// partition, and the rows below; missing values and special codes stand to the right.

const APART = 64; // pixels of a value apart
const MAX_TICKS = 16; // of an axis of ranks

function curveSpec(variable, width, at = 0) {
  const { chart } = variable;
  const of = chart.curves[at];
  const apart = chart.apart.length ? Math.min(chart.apart.length * APART, Math.round(width * 0.3)) : 0;
  const space = Math.max(120, width - 86 - (apart ? apart + 24 : 0));
  const top = Math.min(1, 1.06 * Math.max(0.05, ...of.high, ...of.best, ...of.apart_bands.map(([, high]) => high)));
  const y = {
    type: "quantitative", scale: { domain: [0, top], nice: false },
    axis: { title: `probability of ${ends(of.name, 60)}`, titleLimit: 210, format: "~%", tickCount: 5 },
  };
  const domain = curveEnds(chart);
  const levels = chart.levels ? namesBelow(chart.levels, evenly(chart.levels.length), space, 56) : { names: [] };
  const x = curveAxis(chart, domain, variable.name, levels.axis);
  const upper = { width: space, height: 210, layer: curveLayers(chart, of, { ...x, axis: null }, y, domain) };
  const lower = rowsAlong(chart, x, space);
  const along = { vconcat: [upper, lower], spacing: 6, resolve: { scale: { x: "shared" } } };
  const params = [{ name: "levels", value: levels.names }, { name: "ranks", value: chart.ranks }, { name: "apart", value: clipped(chart.apart, 90) }];
  if (!chart.at.length) return { params, ...apartView(chart, of, y, Math.max(apart, 120)) };
  if (!apart) return { params, ...along };
  const beside = apartView(chart, of, { ...y, axis: null }, apart);
  return { params, hconcat: [along, beside], spacing: 16, resolve: { scale: { color: "shared" } } };
}

// The lowest and the highest value that are drawn.
function curveEnds({ at, levels, bars }) {
  const places = [...at, ...(levels ? bars.flatMap(([left, right]) => [left, right]) : [])];
  const [low, high] = [Math.min(...places), Math.max(...places)];
  return low < high ? [low, high] : [low - 1, high + 1];
}

// Dates are not in the zone of the reader; levels and ranks are places that are written as their names or values.
function curveAxis({ at, levels, ranks, is_date: isDate }, domain, name, below) {
  const axis = { title: ranks.length ? `${name}, by rank` : name, titleLimit: 300, labelOverlap: true, labelSeparation: 8, grid: false };
  if (isDate) return { type: "temporal", scale: { type: "utc", nice: false }, axis };
  if (levels) {
    const written = { values: at, labelExpr: `levels[indexof(${JSON.stringify(at)}, datum.value)]` };
    Object.assign(axis, written, { labelOverlap: below.labelAngle !== 0 }, below);
  }
  const step = Math.ceil(ranks.length / MAX_TICKS);
  if (step) Object.assign(axis, { values: at.filter((_, i) => i % step === 0), labelExpr: "ranks[datum.value]" });
  return { type: "quantitative", scale: { domain, nice: false, zero: false }, axis };
}

function curveLayers(chart, of, x, y, [low, high]) {
  const names = [`average, ${chart.coverage} band`, "best partition"];
  const values = chart.at.map((at, i) => ({
    at, low: of.low[i], high: of.high[i], share: of.shares[i], what: names[0], value: chart.texts[i],
    text: formats.share(of.shares[i]), range: `${formats.share(of.low[i])} to ${formats.share(of.high[i])}`,
  }));
  const edges = [low, ...chart.bounds.map((bound) => Math.min(high, Math.max(low, bound))), high];
  const steps = of.best.flatMap((share, i) => [edges[i], edges[i + 1]].map((at) => ({ at, share, what: names[1] })));
  const range = [colour("--bar"), colour("--text")];
  const color = {
    field: "what", type: "nominal", scale: { domain: names, range }, legend: { title: null, orient: "top", symbolType: "stroke" },
  };
  const line = { x: { field: "at", ...x }, y: { field: "share", ...y }, color };
  const tips = tooltip(["value", "value"], ["text", "probability"], ["range", `${chart.coverage} band`]);
  const size = chart.levels || values.length === 1 ? 45 : 20;
  return [
    {
      data: { values }, mark: { type: values.length > 1 ? "area" : "rule", color: colour("--bar"), opacity: 0.25 },
      encoding: { x: line.x, y: { field: "low", ...y }, y2: { field: "high" } },
    },
    { data: { values: steps }, mark: { type: "line", strokeDash: [5, 3], strokeWidth: 1.2 }, encoding: { ...line, order: { value: 0 } } },
    { data: { values }, mark: { type: "line", strokeWidth: 2.2 }, encoding: line },
    {
      data: { values }, mark: { type: "point", filled: true, size, opacity: chart.levels || values.length === 1 ? 1 : 0 },
      encoding: { ...line, tooltip: tips },
    },
  ];
}

function rowsAlong(chart, x, width) {
  const values = chart.bars.map(([left, right, rows]) => ({ left, right, rows, text: formats.count(rows) }));
  return {
    width, height: 40, data: { values }, mark: { type: "rect", color: colour("--other") },
    encoding: {
      x: { field: "left", ...x }, x2: { field: "right" },
      y: { field: "rows", type: "quantitative", axis: { title: "rows", tickCount: 2, format: "~s", grid: false } },
      y2: { datum: 0 }, tooltip: tooltip(["text", "rows"]),
    },
  };
}

function apartView(chart, of, y, width) {
  const values = chart.apart.map((name, i) => ({
    name, place: i, share: of.apart[i], low: of.apart_bands[i][0], high: of.apart_bands[i][1],
    text: formats.share(of.apart[i]), range: of.apart_bands[i].map(formats.share).join(" to "),
  }));
  const axis = { title: null, labelExpr: "apart[datum.value]", labelAngle: ANGLE, labelAlign: "right", labelLimit: 90, ticks: false };
  const x = { field: "place", type: "ordinal", axis, scale: { domain: values.map(({ place }) => place) } };
  const tips = tooltip(["name", "value"], ["text", "probability"], ["range", `${chart.coverage} band`]);
  return {
    width, height: 210, data: { values },
    layer: [
      { mark: { type: "rule", color: colour("--bar"), strokeWidth: 8, opacity: 0.25 }, encoding: { x, y: { field: "low", ...y }, y2: { field: "high" } } },
      { mark: { type: "point", filled: true, size: 55, color: colour("--bar"), opacity: 1 }, encoding: { x, y: { field: "share", ...y }, tooltip: tips } },
    ],
  };
}
