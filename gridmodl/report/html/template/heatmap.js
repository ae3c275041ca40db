// A heat map of two variables of the grid; the others are added up.

const MAX_DRAWN_CELLS = 10000;
const TURNED_ROOM = 220; // pixels of a name that is turned, where that many are to its left
const SIDES = 2; // of the root of rows, where cells are as large as their rows

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

// Parts along an axis: their order, and where each begins and ends.
function layoutOf(variable, byRows) {
  const order = variable.order || variable.labels.map((_, i) => i);
  const [from, to] = [[], []];
  let end = 0;
  for (const part of order) {
    from[part] = end;
    end += byRows ? Math.max(1, variable.rows[part]) ** (1 / SIDES) : 1;
    to[part] = end;
  }
  return { from, to, end, middles: from.map((start, i) => (start + to[i]) / 2) };
}

// Names stand in values only: in the title of a tooltip they would become part of an expression.
function heatValues(grid, variables, [x, y], measure, [across, up], chosen) {
  const cells = cellsOver(grid, variables, [x, y]);
  const values = measure.values(variables, [x, y], cells);
  return cells.rows.map((rows, i) => {
    const [px, py] = [cells.parts[0][i], cells.parts[1][i]];
    const isOut = (k, part) => chosen[k] !== undefined && chosen[k] !== part;
    return {
      px, py, value: values[i], left: across.from[px], right: across.to[px], low: up.from[py], high: up.to[py],
      midX: across.middles[px], midY: up.middles[py], strength: isOut(x, px) || isOut(y, py) ? 0.25 : 1,
      across: `${variables[x].name}: ${variables[x].labels[px]}`,
      up: `${variables[y].name}: ${variables[y].labels[py]}`,
      written: writtenIn(measure, values[i]),
      colour: `${measure.label}: ${formats[measure.format](values[i])}`,
      rows: formats.count(rows), share: formats.share(rows / grid.n_rows),
    };
  });
}

// A number short enough for a cell.
function writtenIn(measure, value) {
  if (typeof value !== "number") return "";
  if (measure.format === "share") return `${Math.round(100 * value)}%`;
  return measure.format === "count" ? short.format(value) : String(Number(value.toPrecision(2)));
}

const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

// `view` has the variables, the two on the axes, the measure, whether sizes are the rows, and the chosen parts.
function heatSpec(grid, view, width) {
  const { variables, axes: [x, y], measure, byRows, chosen } = view;
  const [across, up] = [variables[x], variables[y]];
  const layouts = [layoutOf(across, byRows), layoutOf(up, byRows)];
  const values = heatValues(grid, variables, [x, y], measure, layouts, chosen);
  const room = Math.min(labelRoom(up.labels, width), Math.round(width * 0.3));
  const space = Math.max(140, width - room - 60);
  const height = Math.max(160, Math.min(620, Math.max(40 * up.labels.length, space * 0.3)));
  const [scale, legend] = [heatScale(measure, values), heatLegend(measure, space)];
  const isFine = across.labels.length * up.labels.length > 900;
  const below = namesBelow(across.labels, layouts[0], space, room + 45);
  const axisX = heatAxis(layouts[0], across, "xs", false, space, below.axis);
  const axisY = heatAxis(layouts[1], up, "ys", !up.isNumerical, height, { labelLimit: room + 10, maxExtent: room + 20 });
  const boxes = {
    mark: { type: "rect", stroke: colour("--page"), strokeWidth: isFine ? 0 : 1, cursor: "pointer" },
    encoding: {
      x: { field: "left", ...axisX }, x2: { field: "right" }, y: { field: "low", ...axisY }, y2: { field: "high" },
      color: { field: "value", type: "quantitative", scale, legend },
      opacity: { field: "strength", type: "quantitative", scale: null, legend: null },
      tooltip: tooltip(...["across", "up", "colour", "rows", "share"].map((name) => [name, name])),
    },
  };
  return {
    params: [
      { name: "xs", value: below.names }, { name: "x_at", value: layouts[0].middles },
      { name: "ys", value: clipped(up.labels, room) }, { name: "y_at", value: layouts[1].middles },
    ],
    width: space, height, data: { values },
    layer: [boxes, numbersLayer(values, layouts, [axisX, axisY], [space, height], measure, scale)],
  };
}

// Numbers in the cells that have room, dark on light and light on dark.
function numbersLayer(values, [across, up], [axisX, axisY], [space, height], measure, { domain }) {
  const has = (value) =>
    ((value.right - value.left) * space) / across.end > 7.5 * value.written.length + 6 &&
    ((value.high - value.low) * height) / up.end > 15 && value.strength === 1;
  const numbers = values.map(({ value }) => value);
  const [low, high] = domain || [Math.min(...numbers), Math.max(...numbers)];
  const isLight = (value) => (measure.isSigned
    ? Math.abs(value) < 0.75 * high
    : (value - low) / Math.max(1e-12, high - low) > 0.5);
  const written = values.filter(has).map((value) => ({ ...value, ink: isLight(value.value) ? "#101418" : "#ffffff" }));
  return {
    data: { values: written }, mark: { type: "text", fontSize: 11, tooltip: false },
    encoding: {
      x: { field: "midX", ...axisX }, y: { field: "midY", ...axisY }, text: { field: "written" },
      color: { field: "ink", type: "nominal", scale: null },
    },
  };
}

// An axis of parts whose names have room, those with the most rows first.
function heatAxis(layout, variable, names, reverse, space, fit) {
  const shown = labelled(layout.middles, variable.rows, ((fit.labelAngle ? TURNED_GAP : 15) * layout.end) / space);
  const places = names === "xs" ? "x_at" : "y_at";
  const axis = {
    ...fit, values: shown.map((i) => layout.middles[i]), labelExpr: `${names}[indexof(${places}, datum.value)]`,
    title: variable.name, titleLimit: 300, grid: false, labelOverlap: false,
  };
  return { type: "quantitative", scale: { domain: [0, layout.end], nice: false, zero: false, reverse }, axis };
}

// Names below their columns and how an axis writes them: level where all have room; else turned, and no longer than the
// room to the left of each, which is that of the columns and `left` pixels.
function namesBelow(labels, { from, to, end }, space, left) {
  const pixels = (length) => (length * space) / end;
  const widths = labels.map((_, i) => pixels(to[i] - from[i]));
  if (labels.every((label, i) => label.length * PIXELS_PER_LETTER < widths[i])) {
    return { names: labels, axis: { labelAngle: 0, labelLimit: Math.max(...widths) } };
  }
  const along = Math.cos((ANGLE * Math.PI) / 180);
  const names = clipped(labels, labels.map((_, i) => Math.min(TURNED_ROOM, (left + pixels((from[i] + to[i]) / 2)) / along)));
  return { names, axis: { labelAngle: ANGLE, labelAlign: "right", labelLimit: TURNED_ROOM + 10 } };
}

// Columns of the same width.
const evenly = (n) => ({ from: Array.from({ length: n }, (_, i) => i), to: Array.from({ length: n }, (_, i) => i + 1), end: n });

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
