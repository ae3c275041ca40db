// A density over the column itself: the area of a part is its share of the rows.

function densitySpec(variable, width) {
  const { edges, title, unit, is_date: isDate, masses } = variable.chart;
  const name = unit ? `${variable.name} (${unit})` : variable.name;
  const type = isDate ? "temporal" : "quantitative";
  const axis = { labelOverlap: true, labelSeparation: 8, title: name, titleLimit: 300, grid: false, tickCount: Math.round(width / 90) };
  const scale = isDate ? { type: "utc", nice: false } : { zero: false, nice: false }; // not in the zone of the reader
  const shared = { type, scale, axis };
  const size = { width: Math.max(160, width - (masses.length ? 130 : 100)), height: 240 };
  const hasArea = edges.length > 1 && edges[edges.length - 1] > edges[0];
  const layers = [...(hasArea ? [intervalsLayer(variable, shared, title)] : []), ...massLayers(masses, shared)];
  if (layers.length === 1) return { ...size, ...layers[0] };
  return { ...size, layer: layers, resolve: { scale: { y: "independent" } } };
}

function intervalsLayer(variable, x, title) {
  const { edges } = variable.chart;
  const [rows, densities] = ["rows", "density"].map((key) => columnOf(variable.tables[0], key));
  const isLog = isAlmostBlank(densities, edges);
  const base = isLog ? Math.min(...densities.filter((density) => density > 0)) / 2 : 0;
  const values = variable.names.slice(0, edges.length - 1).map((label, i) => ({
    label, from: edges[i], to: edges[i + 1], density: Math.max(densities[i], base),
    rows: formats.count(rows[i]), text: formats.number(densities[i]),
  }));
  return {
    data: { values },
    mark: { type: "rect", color: colour("--bar"), stroke: colour("--bar"), strokeWidth: 1 }, // a narrow part is a stroke,
    encoding: {
      x: { field: "from", ...x }, x2: { field: "to" },
      y: {
        field: "density", type: "quantitative", axis: { title: isLog ? `${title}, log scale` : title, format: "~g", ...(isLog ? { tickCount: 5 } : {}) },
        ...(isLog ? { scale: { type: "log", domainMin: base, nice: false } } : {}),
      },
      y2: { datum: base },
      tooltip: tooltip(["label", "part"], ["rows", "rows"], ["text", title]),
    },
  };
}

const LEAST_SEEN = 0.01; // of the tallest bar; bars at least that tall cover this much of the span, or the scale is a log scale:
const LEAST_COVERED = 0.05;

// Whether bars that can be seen on a linear axis cover almost nothing of it, as gridmodl/plot/density.py has it.
function isAlmostBlank(densities, edges) {
  const least = LEAST_SEEN * Math.max(0, ...densities);
  const covered = densities.reduce((sum, density, i) => sum + (density >= least ? edges[i + 1] - edges[i] : 0), 0);
  const isHidden = densities.some((density) => density > 0 && density < least);
  return isHidden && covered < LEAST_COVERED * (edges[edges.length - 1] - edges[0]);
}

// A mass has a probability and no density: a stroke with a head, as high as its share on the axis to the right.
function massLayers(masses, x) {
  if (!masses.length) return [];
  const top = Math.max(...masses.map(({ share }) => share));
  const y = {
    field: "share", type: "quantitative", scale: { domain: [0, Math.min(1, top * 1.1)] },
    axis: { title: "share of rows of a mass", orient: "right", format: "~%", tickCount: 4, grid: false },
  };
  const encoding = { x: { field: "at", ...x }, tooltip: tooltip(["text", "mass"]) };
  const ink = colour("--focus");
  return [{
    data: { values: masses }, encoding,
    layer: [
      { mark: { type: "rule", strokeWidth: 2, color: ink }, encoding: { y, y2: { datum: 0 } } },
      { mark: { type: "point", filled: true, size: 60, color: ink, opacity: 1 }, encoding: { y } },
    ],
  }];
}
