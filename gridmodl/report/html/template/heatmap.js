// A heat map of two variables of the grid; the others are added up.

const MAX_DRAWN_CELLS = 10000;

// What the colour of a cell can be: { label, format, values, scale }; `values` takes variables, two of them, and cells.
function measuresOf(grid) {
  const rows = { label: "rows", format: "count", values: (_, __, cells) => cells.rows, scale: { scheme: "viridis" } };
  if (grid.classes.length) {
    const share = (name, j) => ({
      label: `share of ${name}`, format: "share", values: (_, __, cells) => sharesOf(grid, cells, j),
      scale: { scheme: "viridis", domain: [0, 1] },
    });
    return [...grid.classes.map(share), rows];
  }
  const lift = (variables, chosen, cells) => liftsOf(grid, variables, chosen, cells);
  const information = (...of) => informationOf(grid, of[2], lift(...of));
  const signed = { scheme: "blueorange" };
  return [
    { label: "mutual information", format: "number", values: information, scale: signed, isSigned: true },
    { label: "lift", format: "number", values: lift, scale: { scheme: "viridis" } },
    rows,
  ];
}

// Names stand in values only: in the title of a tooltip they would become part of an expression.
function heatValues(grid, variables, [x, y], measure) {
  const cells = cellsOver(grid, variables, [x, y]);
  const values = measure.values(variables, [x, y], cells);
  return cells.rows.map((rows, i) => {
    const [px, py] = [cells.parts[0][i], cells.parts[1][i]];
    return {
      x: px, y: py, value: values[i],
      across: `${variables[x].name}: ${variables[x].labels[px]}`,
      up: `${variables[y].name}: ${variables[y].labels[py]}`,
      colour: `${measure.label}: ${formats[measure.format](values[i])}`,
      rows: formats.count(rows), share: formats.share(rows / grid.n_rows),
    };
  });
}

function heatSpec(grid, variables, [x, y], measure, width) {
  const values = heatValues(grid, variables, [x, y], measure);
  const [across, up] = [variables[x], variables[y]];
  const room = Math.min(labelRoom(up.labels, width), Math.round(width * 0.3));
  const space = Math.max(140, Math.min(width - room - 60, Math.max(360, 64 * across.labels.length)));
  const [scale, legend] = [heatScale(measure, values), heatLegend(measure, space)];
  const isFine = across.labels.length * up.labels.length > 900;
  return {
    params: [{ name: "xs", value: across.labels }, { name: "ys", value: up.labels }],
    width: space, height: Math.max(140, Math.min(560, 40 * up.labels.length)), data: { values },
    mark: { type: "rect", stroke: colour("--page"), strokeWidth: isFine ? 0 : 1 },
    encoding: {
      x: heatAxis("x", across, false, { ...heatLabels("xs", 130), labelAngle: -40 }),
      y: heatAxis("y", up, up.isNumerical, heatLabels("ys", room)),
      color: { field: "value", type: "quantitative", scale, legend },
      tooltip: tooltip(...["across", "up", "colour", "rows", "share"].map((name) => [name, name])),
    },
  };
}

function heatAxis(field, variable, reverse, axis) {
  const scale = { domain: variable.labels.map((_, i) => i), reverse };
  return { field, type: "ordinal", scale, axis: { ...axis, title: variable.name, titleLimit: 300 } };
}

const heatLabels = (labels, room) => ({
  labelExpr: `${labels}[datum.value]`, labelLimit: room, maxExtent: room + 20, labelOverlap: true,
});

// Of values with a sign, from minus to plus the largest, so that 0 has the colour in the middle.
function heatScale(measure, values) {
  if (!measure.isSigned) return measure.scale;
  const most = values.reduce((most, { value }) => Math.max(most, Math.abs(value)), 1e-12);
  return { ...measure.scale, domain: [-most, most] };
}

const heatLegend = (measure, space) => ({
  title: measure.label, titleLimit: space, orient: "top", gradientLength: Math.min(space, 240),
  format: measure.format === "share" ? ".0%" : "~g",
});
