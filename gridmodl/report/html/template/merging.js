// The cells of the grid after some merges, and what they say. The formulas are those of gridmodl/model/counts.py.

// Each variable after the first `step` merges: its parts by number, and for each part of the model where it went.
function variablesAt(grid, step) {
  const places = grid.variables.map((variable) => variable.labels.map((_, i) => i));
  const labels = grid.variables.map((variable) => [...variable.labels]);
  for (const { variable, stays, goes, label } of grid.merges.slice(0, step)) {
    places[variable].forEach((place, i) => place === goes && (places[variable][i] = stays));
    labels[variable][stays] = label;
  }
  return grid.variables.map((variable, k) => mergedVariable(variable, places[k], labels[k]));
}

function mergedVariable(variable, places, labels) {
  const kept = [...new Set(places)].sort((a, b) => a - b);
  const number = new Map(kept.map((place, i) => [place, i]));
  const placeOf = places.map((place) => number.get(place));
  const sum = (of) => of.reduce((sums, n, i) => ((sums[placeOf[i]] += n), sums), kept.map(() => 0));
  return {
    name: variable.name, isNumerical: variable.is_numerical, placeOf, labels: kept.map((place) => labels[place]),
    rows: sum(variable.rows), values: variable.values && sum(variable.values),
  };
}

// Cells added up over all but the given variables: { parts, rows, unlabelled, counts }, one entry for each cell.
function cellsOver(grid, variables, chosen) {
  const found = new Map();
  const sizes = chosen.map((k) => variables[k].labels.length);
  const cells = { parts: chosen.map(() => []), rows: [], unlabelled: [], counts: grid.counts.map(() => []) };
  for (let i = 0; i < grid.rows.length; i++) {
    const parts = chosen.map((k) => variables[k].placeOf[grid.parts[k][i]]);
    const key = parts.reduce((sum, part, k) => sum * sizes[k] + part, 0);
    const name = Number.isSafeInteger(key) ? key : parts.join(" ");
    let cell = found.get(name);
    if (cell === undefined) found.set(name, (cell = addCell(cells, parts)));
    cells.rows[cell] += grid.rows[i];
    cells.unlabelled[cell] += grid.unlabelled ? grid.unlabelled[i] : 0;
    grid.counts.forEach((counts, j) => (cells.counts[j][cell] += counts[i]));
  }
  return cells;
}

// The same cells, those with the most rows first.
function mostRowsFirst(cells) {
  const order = cells.rows.map((_, i) => i).sort((a, b) => cells.rows[b] - cells.rows[a] || a - b);
  const arranged = (values) => order.map((i) => values[i]);
  return {
    parts: cells.parts.map(arranged), rows: arranged(cells.rows), unlabelled: arranged(cells.unlabelled),
    counts: cells.counts.map(arranged),
  };
}

function addCell(cells, parts) {
  parts.forEach((part, k) => cells.parts[k].push(part));
  cells.counts.forEach((counts) => counts.push(0));
  cells.unlabelled.push(0);
  return cells.rows.push(0) - 1;
}

// The share of rows of each cell, over the product of those of its parts.
function liftsOf(grid, variables, chosen, cells) {
  return cells.rows.map((rows, i) => {
    const expected = chosen.reduce((share, k, at) => (share * variables[k].rows[cells.parts[at][i]]) / grid.n_rows, 1);
    return rows / grid.n_rows / expected;
  });
}

const informationOf = (grid, cells, lifts) => cells.rows.map((rows, i) => (rows / grid.n_rows) * Math.log(lifts[i]));

// Rows of each cell, over the number of combinations of the values of its parts.
function densitiesOf(grid, variables, chosen, cells) {
  const others = variables.map((_, k) => k).filter((k) => !chosen.includes(k));
  const sum = (values) => values.reduce((total, n) => total + n, 0);
  const product = others.reduce((all, k) => all * sum(variables[k].values), rank(grid.other_values));
  const values = (k, at, i) => variables[k].values[cells.parts[at][i]];
  return cells.rows.map((rows, i) => chosen.reduce((density, k, at) => density / values(k, at, i), rows) / product);
}

// The share of a class in the labelled rows of each cell; in those of all cells where there are none.
function sharesOf(grid, cells, j) {
  const unlabelled = grid.unlabelled ? grid.unlabelled.reduce((sum, n) => sum + n, 0) : 0;
  const overall = grid.class_rows[j] / (grid.n_rows - unlabelled);
  return cells.rows.map((rows, i) => {
    const labelled = rows - cells.unlabelled[i];
    return labelled > 0 ? cells.counts[j][i] / labelled : overall;
  });
}

// The columns of the table of cells, as `Model.cell_table` has them.
function cellColumns(grid, variables, chosen, cells) {
  const columns = chosen.map((k, at) => ({
    label: variables[k].name, format: "text", order: cells.parts[at],
    values: cells.parts[at].map((part) => variables[k].labels[part]),
  }));
  if (!columns.length) columns.push({ label: "cell", format: "text", values: cells.rows.map(() => "all rows") });
  columns.push({ label: "rows", format: "count", values: cells.rows });
  columns.push({ label: "share of rows", format: "share", values: cells.rows.map((rows) => rows / grid.n_rows) });
  if (grid.unlabelled) columns.push({ label: "unlabelled", format: "count", values: cells.unlabelled });
  if (!grid.classes.length) return [...columns, ...jointColumns(grid, variables, chosen, cells)];
  grid.classes.forEach((name, j) => {
    columns.push({ label: `${name}: rows`, format: "count", values: cells.counts[j] });
    columns.push({ label: `${name}: share`, format: "share", values: sharesOf(grid, cells, j) });
  });
  return columns;
}

function jointColumns(grid, variables, chosen, cells) {
  const lifts = liftsOf(grid, variables, chosen, cells);
  return [
    { label: "density", format: "number", values: densitiesOf(grid, variables, chosen, cells) },
    { label: "lift", format: "number", values: lifts },
    { label: "mutual information", format: "number", values: informationOf(grid, cells, lifts) },
  ];
}
