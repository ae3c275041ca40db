// The distribution of a score, of the rows of the event and of the rest; a dashed line is where they differ most.

const OF_SCORES = ["event", "rest"];

function scoresSpec({ chart }, width) {
  const values = OF_SCORES.flatMap((what, j) =>
    chart[j ? "rest" : "events"].map((share, i) => ({
      what, share, left: chart.edges[i], right: chart.edges[i + 1], text: formats.share(share),
      score: `${formats.number(chart.edges[i])} to ${formats.number(chart.edges[i + 1])}`,
    })),
  );
  const domain = [chart.edges[0], chart.edges[chart.edges.length - 1]];
  const x = { type: "quantitative", scale: { domain, nice: false, zero: false }, axis: { title: "score", grid: false } };
  const legend = { title: null, orient: "top" };
  const color = { field: "what", type: "nominal", scale: { domain: OF_SCORES, range: [PALETTE[3], colour("--bar")] }, legend };
  const best = chart.best === null ? [] : [{
    data: { values: [{ at: chart.best, text: `${formats.number(chart.best)}: the shares differ most` }] },
    mark: { type: "rule", strokeDash: [4, 3], color: colour("--text") },
    encoding: { x: { field: "at", ...x }, tooltip: tooltip(["text", "score"]) },
  }];
  return {
    width: Math.max(140, width - 76), height: 200,
    layer: [{
      data: { values }, mark: { type: "rect", opacity: 0.55 },
      encoding: {
        x: { field: "left", ...x }, x2: { field: "right" }, color,
        y: { field: "share", type: "quantitative", axis: { ...SHARE_AXIS, title: "share of the rows of each" } }, y2: { datum: 0 },
        tooltip: tooltip(["score", "score"], ["what", "rows of the"], ["text", "share"]),
      },
    }, ...best],
  };
}
