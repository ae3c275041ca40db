// A heat map of two variables of the grid; the others are added up.

const MAX_DRAWN_CELLS = 10000;

// What the colour of a cell can be: { label, format, values(cells), scale }.
function measuresOf(grid) {
  const rows = { label: "rows", format: "count", values: (_, __, cells) => cells.rows, scale: { scheme: "viridis" } };
  if (grid.classes.length) {
    const share = (name, j) => ({
      label: `share of ${name}`, format: "share", values: (_, __, cells) => sharesOf(grid, cells, j),
      scale: { scheme: "viridis", domain: [0, 1] },
    });
    return [...grid.classes.map(share), rows];
  }
  const lifts = (variables, chosen, cells) => liftsOf(grid, variables, chosen, cells);
  const information = (...of) => informationOf(grid, of[2], lifts(...of));
  return [
    { label: "mutual information", format: "number", values: information, scale: { scheme: "blueorange" }, isSigned: true },
    { label: "lift", format: "number", values: lifts, scale: { scheme: "viridis" } },
    rows,
  ];
}

function heatValues(grid, variables, [x, y], measure) {
  const cells = cellsOver(grid, variables, [x, y]);
  const values = measure.values(variables, [x, y], cells);
  return cells.rows.map((rows, i) => {
    const [px, py] = [cells.parts[0][i], cells.parts[1][i]];
    return {
      x: px, y: py, value: values[i], xLabel: variables[x].labels[px], yLabel: variables[y].labels[py],
      rows: formats.count(rows), share: formats.share(rows / grid.n_rows), text: formats[measure.format](values[i]),
    };
  });
}

function heatSpec(grid, variables, [x, y], measure, width) {
  const values = heatValues(grid, variables, [x, y], measure);
  const [vx, vy] = [variables[x], variables[y]];
  const room = Math.min(labelRoom(vy.labels, width), Math.round(width * 0.3));
  const space = Math.max(140, Math.min(width - room - 60, Math.max(360, 64 * vx.labels.length)));
  const height = Math.max(140, Math.min(560, 40 * vy.labels.length));
  const axis = (labels, title, limit) => ({ title, labelExpr: `${labels}[datum.value]`, labelLimit: limit, maxExtent: limit + 20, labelOverlap: true, titleLimit: 300 });
  const scale = (variable, isUp) => ({ domain: variable.labels.map((_, i) => i), reverse: isUp && variable.isNumerical });
  return {
    params: [{ name: "xs", value: vx.labels }, { name: "ys", value: vy.labels }],
    width: space, height, data: { values },
    mark: { type: "rect", stroke: colour("--page"), strokeWidth: vx.labels.length * vy.labels.length > 900 ? 0 : 1 },
    encoding: {
      x: { field: "x", type: "ordinal", scale: scale(vx, false), axis: { ...axis("xs", vx.name, 130), labelAngle: -40 } },
      y: { field: "y", type: "ordinal", scale: scale(vy, true), axis: axis("ys", vy.name, room) },
      color: {
        field: "value", type: "quantitative", scale: measure.isSigned ? { ...measure.scale, domain: evenDomain(values) } : measure.scale,
        legend: { title: measure.label, titleLimit: space, orient: "top", gradientLength: Math.min(space, 240), format: measure.format === "share" ? ".0%" : "~g" },
      },
      tooltip: tooltip(["xLabel", tipName(vx.name, "across")], ["yLabel", tipName(vy.name, "up")], ["text", tipName(measure.label, "value")], ["rows", "rows "], ["share", "share of rows "]),
    },
  };
}

// From minus to plus the largest value, so that 0 has the colour in the middle.
function evenDomain(values) {
  const most = values.reduce((most, { value }) => Math.max(most, Math.abs(value)), 1e-12);
  return [-most, most];
}

// The titles of a tooltip are keys of one object, so no two may be the same.
const tipName = (name, where) => `${name.slice(0, 40)} (${where})`;
