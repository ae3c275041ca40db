// What is drawn of the parts of a variable, in Vega-Lite. Parts and classes go by number, so no name is ever a field.

const ROW = 24; // pixels of a part, fewer where there are many

const partStep = (n) => Math.max(2, Math.min(ROW, Math.floor(900 / n)));
const chartHeight = (n) => n * partStep(n) + 90;

function labelRoom(labels, width) {
  const longest = Math.max(...labels.map((label) => label.length));
  return Math.round(Math.min(longest * PIXELS_PER_LETTER + 8, width * 0.4, 320));
}

// Labels that fit into `pixels`, of all or of each: their beginning and their end; with a number in front where two would
// look alike.
function clipped(labels, pixels) {
  const letters = labels.map((_, i) => Math.max(6, Math.floor((pixels[i] ?? pixels) / PIXELS_PER_LETTER)));
  const shown = labels.map((label, i) => ends(label, letters[i]));
  const n = (text) => shown.reduce((sum, other) => sum + (other === text), 0);
  return shown.map((text, i) => (n(text) > 1 ? ends(`${i}: ${labels[i]}`, letters[i]) : text));
}

function ends(label, letters) {
  const signs = [...label];
  if (signs.length <= letters) return label;
  const tail = Math.floor((letters - 1) / 2);
  return `${signs.slice(0, letters - 1 - tail).join("")}…${signs.slice(signs.length - tail).join("")}`;
}

// The axis of parts: numbers that are written as their labels.
function partAxis(labels, room) {
  const fitted = { labelLimit: room + 10, maxExtent: room + 20, labelOverlap: true };
  const axis = { title: null, labelExpr: "labels[datum.value]", ticks: false, ...fitted };
  return { field: "part", type: "ordinal", axis, scale: { domain: labels.map((_, i) => i) } };
}

const tooltip = (...pairs) => pairs.map(([field, title]) => ({ field, title, type: "nominal" }));

function partSpec(labels, room, rest) {
  return { ...rest, params: [...(rest.params || []), { name: "labels", value: clipped(labels, room) }] };
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

const SMALL = 480; // pixels

// A chart of the parts to the left, their rows to the right; on a small screen they are in the table alone.
function withRows(variable, width, makeView) {
  const [record, labels] = [variable.tables[0], variable.names];
  const room = labelRoom(labels, width);
  if (width < SMALL) return partSpec(labels, room, makeView(labels, Math.max(120, width - room - 24), partAxis(labels, room)));
  const space = Math.max(120, width - room - 40);
  const left = makeView(labels, Math.round(space * 0.7), partAxis(labels, room));
  const right = rowsView(record, labels, Math.round(space * 0.3), { ...partAxis(labels, room), axis: null });
  const { params, ...view } = left;
  return partSpec(labels, room, { params, hconcat: [view, right], spacing: 16 });
}

function sharesSpec(variable, width) {
  const [record, { keys, names, has_other: hasOther }] = [variable.tables[0], variable.chart];
  const all = hasOther ? [...names, "other"] : names;
  const shares = keys.map((key) => columnOf(record, key));
  if (hasOther) shares.push(shares[0].map((_, i) => (shares[0][i] === null ? null : othersShare(shares, i))));
  return withRows(variable, width, (labels, room, axis) => ({
    params: [{ name: "names", value: clipped(all, legendRoom(all, room)) }],
    width: room, height: { step: partStep(labels.length) },
    data: { values: labels.flatMap((label, i) => shares.map((of, j) => shareValue(i, label, j, all[j], of[i]))) },
    mark: { type: "bar", stroke: colour("--page"), strokeWidth: 0.7 },
    encoding: {
      y: axis,
      x: { field: "share", type: "quantitative", scale: { domain: [0, 1] }, axis: WHOLE_AXIS },
      color: classColour(all, hasOther, room),
      order: { field: "class", type: "quantitative" },
      tooltip: tooltip(["label", "part"], ["name", "class"], ["text", "share"]),
    },
  }));
}

const SHARE_AXIS = { title: "share", format: "~%", tickCount: 4 };
// Where shares run from 0 to 1: without room for all, every second is named.
const WHOLE_AXIS = { ...SHARE_AXIS, values: [0, 0.25, 0.5, 0.75, 1], labelOverlap: true, labelSeparation: 4 };

// Pixels that the longest name of a class may take in a legend beside its mark.
function legendRoom(names, room) {
  const longest = Math.max(...names.map((name) => name.length)) * PIXELS_PER_LETTER;
  return Math.max(60, Math.min(longest, room - 30));
}

function classColour(names, hasOther, room) {
  const longest = legendRoom(names, room);
  const columns = Math.max(1, Math.floor(room / (longest + 30)));
  const legend = { title: null, orient: "top", labelExpr: "names[datum.value]", labelLimit: longest + 20, columns };
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
  return withRows(variable, width, (labels, room, axis) => {
    const write = valueWriter(columns.map(([, values]) => values));
    const values = labels.map((label, i) => spreadValue(label, i, columns, write));
    const target = ends(variable.chart.target, LONG_HEAD);
    const title = room > 430 + PIXELS_PER_LETTER * target.length ? `${target}: ${SPREAD}` : [target, ...SPREAD.split("; ")];
    const axis5 = { title, tickCount: Math.max(3, Math.round(room / 80)) };
    const x = (field) => ({ field, type: "quantitative", scale: { zero: false }, axis: axis5 });
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

const SPREAD = "line 5 to 95%, bar 25 to 75%; stroke at the median, dot at the mean";

function spreadValue(label, part, columns, write) {
  const value = { part, label };
  for (const [key, of] of columns) {
    value[key] = typeof of[part] === "number" ? of[part] : null;
    value[`${key}_text`] = write(of[part]);
  }
  return value;
}

function rowsSpec(variable, width) {
  const labels = variable.names;
  const room = labelRoom(labels, width);
  const space = Math.max(120, width - room - 24);
  return partSpec(labels, room, rowsView(variable.tables[0], labels, space, partAxis(labels, room)));
}

// Of many classes each part shows its own largest, named in its bar: a colour for each could not be told apart.
function typicalSpec(variable, width) {
  if (width < SMALL) return largestSpec(variable, width);
  const shades = ["#0072b2", "#4a9bc9", "#a8d0e6"];
  const inks = ["#ffffff", "#101418", "#101418"];
  return withRows(variable, width, (labels, room, axis) => {
    const values = labels.flatMap((label, part) => {
      let from = 0;
      return variable.chart.typical[part].map(([j, share], rank) => {
        const name = variable.chart.typical_names[j];
        const start = from;
        from += share;
        const text = fitted(name, Math.floor((share * room - 6) / PIXELS_PER_LETTER), variable.chart.typical_names);
        return { part, label, rank, name, share: formats.share(share), from: start, to: from, text };
      });
    });
    const rank = (range) => ({ field: "rank", type: "nominal", scale: { domain: [0, 1, 2], range }, legend: null });
    const x = { field: "from", type: "quantitative", scale: { domain: [0, 1] }, axis: { ...WHOLE_AXIS, title: TYPICAL } };
    const isWritten = partStep(labels.length) >= 14;
    const bars = {
      mark: { type: "bar", stroke: colour("--page"), strokeWidth: 1 },
      encoding: {
        x, x2: { field: "to" }, color: rank(shades),
        tooltip: tooltip(["label", "part"], ["name", "class"], ["share", "share"]),
      },
    };
    const names = {
      mark: { type: "text", align: "left", dx: 4, fontSize: 11 },
      encoding: { x, text: { field: "text" }, color: rank(inks) },
    };
    return {
      width: room, height: { step: partStep(labels.length) }, data: { values }, encoding: { y: axis },
      resolve: { scale: { color: "independent" } }, layer: isWritten ? [bars, names] : [bars],
    };
  });
}

// On a small screen the largest class of each part, its name behind its bar, or in it where there is more room.
function largestSpec(variable, width) {
  return withRows(variable, width, (labels, room, axis) => {
    const values = labels.flatMap((label, part) =>
      variable.chart.typical[part].slice(0, 1).map(([j, share]) => {
        const name = variable.chart.typical_names[j];
        const within = share > 0.6;
        const text = ends(name, Math.max(6, Math.floor(((within ? share : 1 - share) * room - 6) / PIXELS_PER_LETTER)));
        return { part, label, name, share, within, text, written: formats.share(share) };
      }),
    );
    const x = { field: "share", type: "quantitative", scale: { domain: [0, 1] }, axis: { ...WHOLE_AXIS, title: "largest class of each part" } };
    const tips = tooltip(["label", "part"], ["name", "class"], ["written", "share"]);
    const writing = (filter, look) => ({
      transform: [{ filter }], mark: { type: "text", fontSize: 11, ...look }, encoding: { text: { field: "text" } },
    });
    return {
      width: room, height: { step: partStep(labels.length) }, data: { values }, encoding: { y: axis, x, tooltip: tips },
      layer: [
        { mark: { type: "bar", color: colour("--bar") } },
        writing("!datum.within", { align: "left", dx: 4, color: colour("--text") }),
        writing("datum.within", { align: "right", dx: -4, color: colour("--page") }),
      ],
    };
  });
}

// A name in at most `letters` letters; nothing where they are too few to tell it from the other names.
function fitted(name, letters, names) {
  if (name.length <= letters) return name;
  const beginning = name.slice(0, letters - 1);
  const isAlone = names.filter((other) => other.startsWith(beginning)).length === 1;
  return letters >= 6 && isAlone ? `${beginning}…` : "";
}

const TYPICAL = "largest classes of each part";

const SPECS = {
  shares: sharesSpec, typical: typicalSpec, spread: spreadSpec, rows: rowsSpec, density: densitySpec, drift: driftSpec,
  curve: curveSpec, scores: scoresSpec,
  rate: (variable, width) => eventSpec(variable, width, "rate"),
  woe: (variable, width) => eventSpec(variable, width, "woe"),
};
const DRAWN = {
  rate: "rate of the event in each part with its range, over the rows of the part",
  woe: "weight of evidence of each part, over its rows",
  typical: "the largest classes of each part with their shares, and its rows",
  shares: "shares of the classes in each part, and its rows",
  spread: "mean, median and quantiles of the target in each part, and its rows",
  rows: "rows of each part",
  density: "density of the column",
  curve: "probability of a class along the column with its band, the best partition and the rows",
  scores: "shares of the rows of the event and of the rest by score",
  drift: "share of the rows in each part, in training and now, and the change of the event rate",
};

const HEIGHTS = { density: 300, rate: 330, curve: 320, scores: 280 };

// What can be drawn of a variable, the best first: { kind, label }.
function drawingsOf({ kind, typical, event, curves }) {
  const shares = typical ? { kind: "typical", label: "largest classes" } : { kind: "shares", label: "shares of classes" };
  if (kind === "shares") return [shares];
  if (kind === "curve") return curves.map(({ name }, at) => ({ kind, at, label: `probability of ${name}` }));
  if (kind !== "event") return [{ kind, label: kind }];
  return [{ kind: "rate", label: `rate of ${event}` }, { kind: "woe", label: "weight of evidence" }, shares];
}

// The chart of a variable, and what chooses another where there are several.
function chartOf(variable) {
  const drawings = drawingsOf(variable.chart);
  let [drawn] = drawings;
  const describe = () => `Chart of ${variable.name}: ${DRAWN[drawn.kind]}. The table that follows has the same numbers.`;
  const height = HEIGHTS[drawn.kind] || chartHeight(variable.parts);
  const chart = new Chart(describe(), (width) => SPECS[drawn.kind](variable, width, drawn.at), height);
  if (drawings.length === 1) return [chart.element];
  const chooser = choice("Chart", drawings.map(({ label }) => label), 0, (i) => {
    drawn = drawings[i];
    chart.describe(describe());
    chart.draw();
  });
  return [element("div", { className: "controls" }, chooser), chart.element];
}
