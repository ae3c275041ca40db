// New rows beside those of training: shares and event rates of parts, and the PSI of periods.

// Wide bars are the shares in training, narrow ones those of the new rows; to the right, the change of the event rate
// with its interval.
function driftSpec(variable, width) {
  const [record, labels] = [variable.tables[0], variable.names];
  const room = labelRoom(labels, width);
  const hasRates = variable.chart.has_rates;
  const space = Math.max(120, width - room - (hasRates ? 56 : 24));
  const left = sharesThenAndNow(record, labels, Math.round(space * (hasRates ? 0.6 : 1)), partAxis(labels, room));
  if (!hasRates) return partSpec(labels, room, left);
  const { params, ...view } = left;
  const right = rateChanges(record, labels, Math.round(space * 0.4), { ...partAxis(labels, room), axis: null });
  return partSpec(labels, room, { params, hconcat: [view, right], spacing: 16 });
}

function sharesThenAndNow(record, labels, width, axis) {
  const [then, now, terms] = ["share_old", "share_new", "psi"].map((key) => columnOf(record, key));
  const step = partStep(labels.length);
  const values = labels.flatMap((label, part) =>
    [then, now].map((of, when) => ({
      part, label, when, share: of[part], text: formats.share(of[part]),
      time: TIMES[when], psi: formats.number(terms[part]),
    })),
  );
  const bar = (when, size) => ({
    transform: [{ filter: `datum.when === ${when}` }],
    mark: { type: "bar", size: Math.max(1, Math.round(step * size)) },
  });
  const legend = { title: null, orient: "top", labelExpr: "names[datum.value]" };
  const range = [colour("--other"), colour("--bar")];
  return {
    params: [{ name: "names", value: TIMES }],
    width, height: { step }, data: { values },
    encoding: {
      y: axis,
      x: { field: "share", type: "quantitative", axis: { ...SHARE_AXIS, title: "share of rows" } },
      color: { field: "when", type: "nominal", scale: { domain: [0, 1], range }, legend },
      tooltip: tooltip(["label", "part"], ["time", "rows"], ["text", "share of rows"], ["psi", "term of the PSI"]),
    },
    layer: [bar(0, 0.8), bar(1, 0.4)],
  };
}

const TIMES = ["training", "new rows"];

function rateChanges(record, labels, width, axis) {
  const keys = ["rate_old", "rate_new", "change", "lower", "upper"];
  const columns = keys.map((key) => columnOf(record, key));
  const values = labels.map((label, part) => {
    const [old, now, change, lower, upper] = columns.map((of) => of[part]);
    return { part, label, change, lower, upper, old: formats.share(old), now: formats.share(now) };
  });
  const x = (field) => ({
    field, type: "quantitative",
    axis: {
      title: "rate change", format: "+~%", labelExpr: "datum.value ? datum.label : '0%'", tickCount: 3,
      labelOverlap: "greedy", labelSeparation: 4,
    },
  });
  const ink = colour("--text");
  return {
    width, height: { step: partStep(labels.length) },
    data: { values: values.filter((value) => value.change !== null) },
    encoding: { y: axis, tooltip: tooltip(["label", "part"], ["old", "rate in training"], ["now", "rate now"]) },
    layer: [
      { mark: { type: "rule", strokeDash: [4, 3], color: colour("--soft") }, encoding: { x: { datum: 0 }, y: null } },
      { mark: { type: "rule", color: ink }, encoding: { x: x("lower"), x2: { field: "upper" } } },
      { mark: { type: "point", filled: true, color: colour("--bar"), size: 50 }, encoding: { x: x("change") } },
    ],
  };
}

// The PSI of each period; a dashed line is the limit of a drift.
function periodsOf(variable) {
  const { labels, psi, noise, verdicts, threshold } = variable.periods;
  const values = labels.map((label, period) => ({
    period, label, psi: psi[period], text: formats.number(psi[period]),
    noise: formats.number(noise[period]), verdict: verdicts[period],
  }));
  const axis = { title: null, labelExpr: "labels[datum.value]", labelOverlap: false, ticks: false };
  const encodingOf = (below) => ({
    x: { field: "period", type: "ordinal", axis: { ...axis, ...below.axis }, scale: { domain: labels.map((_, i) => i) } },
    y: { field: "psi", type: "quantitative", axis: { title: "PSI", tickCount: 4 } },
    tooltip: tooltip(["label", "period"], ["text", "PSI"], ["noise", "by chance"], ["verdict", "verdict"]),
  });
  const kinds = [...new Set(verdicts)].sort();
  const range = kinds.map((verdict) => (verdict === "drift" ? PALETTE[3] : verdict === "stable" ? colour("--other") : colour("--bar")));
  const color = { field: "verdict", type: "nominal", scale: { domain: kinds, range }, legend: { title: null, orient: "top" } };
  const line = { strokeDash: [4, 3], color: colour("--text") };
  const makeSpec = (width) => {
    const space = Math.max(160, width - 80);
    const below = namesBelow(labels, evenly(labels.length), space, 60);
    const places = labels.map((_, i) => i);
    if (below.axis.labelAngle) below.axis.values = labelled(places, places.map(() => 1), (TURNED_GAP * labels.length) / space);
    return {
      params: [{ name: "labels", value: below.names }],
      width: space, height: 150, data: { values },
      layer: [
        { mark: { type: "bar" }, encoding: { ...encodingOf(below), color } },
        { mark: { type: "rule", ...line }, encoding: { y: { datum: threshold } } },
      ],
    };
  };
  const description = `Chart of ${variable.name}: PSI of each period. The table of periods has the same numbers.`;
  return new Chart(description, makeSpec, 230);
}
