// What is drawn of the parts of a variable, in Vega-Lite. Parts and classes go by number, so no name is ever a field.

const ROW = 24; // pixels of a part, fewer where there are many

const partStep = (n) => Math.max(2, Math.min(ROW, Math.floor(900 / n)));
const chartHeight = (n) => n * partStep(n) + 90;

function labelRoom(labels, width) {
  const longest = Math.max(...labels.map((label) => label.length));
  return Math.round(Math.min(longest * PIXELS_PER_LETTER + 8, width * 0.4, 320));
}

// The axis of parts: numbers that are written as their labels.
function partAxis(labels, room) {
  const fitted = { labelLimit: room, maxExtent: room + 20, labelOverlap: true };
  const axis = { title: null, labelExpr: "labels[datum.value]", ticks: false, ...fitted };
  return { field: "part", type: "ordinal", axis, scale: { domain: labels.map((_, i) => i) } };
}

const tooltip = (...pairs) => pairs.map(([field, title]) => ({ field, title, type: "nominal" }));

function partSpec(labels, rest) {
  return { ...rest, params: [...(rest.params || []), { name: "labels", value: labels }] };
}

// The rows of each part, beside another chart of the same parts.
function rowsView(record, labels, width, axis) {
  const [rows, shares] = [columnOf(record, "rows"), columnOf(record, "share")];
  const values = labels.map((part, i) => ({
    part: i, label: part, rows: rows[i], text: formats.count(rows[i]), share: formats.share(shares[i]),
  }));
  return {
    width, height: { step: partStep(labels.length) }, data: { values },
    mark: { type: "bar", color: colour("--other") },
    encoding: {
      y: axis,
      x: { field: "rows", type: "quantitative", axis: { title: "rows", tickCount: 3, format: ",d", tickMinStep: 1 } },
      tooltip: tooltip(["label", "part"], ["text", "rows"], ["share", "share of rows"]),
    },
  };
}

// A chart of the parts to the left, their rows to the right.
function withRows(record, width, makeView) {
  const labels = columnOf(record, "part");
  const room = labelRoom(labels, width);
  const space = Math.max(120, width - room - 40);
  const left = makeView(labels, Math.round(space * 0.7), partAxis(labels, room));
  const right = rowsView(record, labels, Math.round(space * 0.3), { ...partAxis(labels, room), axis: null });
  const { params, ...view } = left;
  return partSpec(labels, { params, hconcat: [view, right], spacing: 16 });
}

function sharesSpec(variable, width) {
  const [record, { keys, names, has_other: hasOther }] = [variable.tables[0], variable.chart];
  const all = hasOther ? [...names, "other"] : names;
  const shares = keys.map((key) => columnOf(record, key));
  if (hasOther) shares.push(shares[0].map((_, i) => (shares[0][i] === null ? null : othersShare(shares, i))));
  return withRows(record, width, (labels, room, axis) => ({
    params: [{ name: "names", value: all }],
    width: room, height: { step: partStep(labels.length) },
    data: { values: labels.flatMap((label, i) => shares.map((of, j) => shareValue(i, label, j, all[j], of[i]))) },
    mark: { type: "bar", stroke: colour("--page"), strokeWidth: 0.7 },
    encoding: {
      y: axis,
      x: { field: "share", type: "quantitative", scale: { domain: [0, 1] }, axis: SHARE_AXIS },
      color: classColour(all, hasOther, room),
      order: { field: "class", type: "quantitative" },
      tooltip: tooltip(["label", "part"], ["name", "class"], ["text", "share"]),
    },
  }));
}

const SHARE_AXIS = { title: "share", format: ".0%", tickCount: 4 };

function classColour(names, hasOther, room) {
  const columns = Math.max(1, Math.floor(room / 150));
  const legend = { title: null, orient: "top", labelExpr: "names[datum.value]", labelLimit: 160, columns };
  const scale = { domain: names.map((_, j) => j), range: palette(names.length, hasOther) };
  return { field: "class", type: "nominal", scale, legend };
}

const othersShare = (shares, i) => Math.max(0, 1 - shares.reduce((sum, of) => sum + of[i], 0));
const shareValue = (part, label, j, name, share) => ({
  part, label, class: j, name, share, text: formats.share(share),
});
const palette = (n, hasOther) => (hasOther ? [...PALETTE.slice(0, n - 1), colour("--other")] : PALETTE.slice(0, n));

// A numerical target in each part: a line from 5 to 95 %, a bar from 25 to 75 %, a stroke at the median, a dot at the
// mean.
function spreadSpec(variable, width) {
  const record = variable.tables[0];
  const columns = ["mean", "median", "q5", "q25", "q75", "q95"].map((key) => [key, columnOf(record, key)]);
  return withRows(record, width, (labels, room, axis) => {
    const values = labels.map((label, i) => spreadValue(label, i, columns));
    const x = (field) => ({ field, type: "quantitative", scale: { zero: false }, title: "target" });
    const [blue, size] = [colour("--bar"), Math.ceil(partStep(labels.length) / 2)];
    return {
      width: room, height: { step: partStep(labels.length) }, data: { values },
      encoding: { y: axis, tooltip: tooltip(["label", "part"], ...columns.map(([key]) => [`${key}_text`, key])) },
      layer: [
        { mark: { type: "rule", color: blue }, encoding: { x: x("q5"), x2: { field: "q95" } } },
        { mark: { type: "bar", color: blue, opacity: 0.45, size }, encoding: { x: x("q25"), x2: { field: "q75" } } },
        { mark: { type: "tick", color: colour("--text"), thickness: 2, size: size + 2 }, encoding: { x: x("median") } },
        { mark: { type: "point", filled: true, color: colour("--focus"), size: 40 }, encoding: { x: x("mean") } },
      ],
    };
  });
}

function spreadValue(label, part, columns) {
  const value = { part, label };
  for (const [key, of] of columns) {
    value[key] = typeof of[part] === "number" ? of[part] : null;
    value[`${key}_text`] = formats.value(of[part]);
  }
  return value;
}

function rowsSpec(variable, width) {
  const labels = columnOf(variable.tables[0], "part");
  const room = labelRoom(labels, width);
  const space = Math.max(120, width - room - 24);
  return partSpec(labels, rowsView(variable.tables[0], labels, space, partAxis(labels, room)));
}

// A density over the column itself: the area of a part is its share of the rows.
function densitySpec(variable, width) {
  const [record, { edges, title, is_date: isDate, masses }] = [variable.tables[0], variable.chart];
  const [labels, rows, densities] = ["part", "rows", "density"].map((key) => columnOf(record, key));
  const values = labels.slice(0, edges.length - 1).map((label, i) => ({
    label, from: edges[i], to: edges[i + 1], density: densities[i],
    rows: formats.count(rows[i]), text: formats.number(densities[i]),
  }));
  const type = isDate ? "temporal" : "quantitative";
  const axis = { labelOverlap: true, labelSeparation: 8 }; // long numbers would run into each other
  const scale = isDate ? { type: "utc", nice: false } : { zero: false, nice: false }; // not in the zone of the reader
  const size = { width: Math.max(160, width - 100), height: 240 };
  const histogram = {
    data: { values },
    mark: { type: "rect", color: colour("--bar"), stroke: colour("--page"), strokeWidth: 0.5 },
    encoding: {
      x: { field: "from", type, title: variable.name, scale, axis },
      x2: { field: "to" },
      y: { field: "density", type: "quantitative", axis: { title, format: "~g" } }, y2: { datum: 0 },
      tooltip: tooltip(["label", "part"], ["rows", "rows"], ["text", title]),
    },
  };
  if (masses.length === 0) return { ...size, ...histogram };
  // A mass has a probability and no density: a dashed line as high as the chart.
  const lines = {
    data: { values: masses }, mark: { type: "rule", strokeDash: [4, 3], strokeWidth: 2, color: colour("--text") },
    encoding: { x: { field: "at", type, scale, axis }, tooltip: tooltip(["text", "mass"]) },
  };
  return { ...size, layer: [histogram, lines] };
}

const SPECS = { shares: sharesSpec, spread: spreadSpec, rows: rowsSpec, density: densitySpec };
const DRAWN = {
  shares: "shares of the classes in each part, and its rows",
  spread: "mean, median and quantiles of the target in each part, and its rows",
  rows: "rows of each part",
  density: "density of the column",
};

function chartOf(variable) {
  const { kind } = variable.chart;
  const description = `Chart of ${variable.name}: ${DRAWN[kind]}. The table that follows has the same numbers.`;
  const height = kind === "density" ? 300 : chartHeight(variable.parts);
  return new Chart(description, (width) => SPECS[kind](variable, width), height);
}
