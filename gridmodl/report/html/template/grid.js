// The grid: a slider that makes it coarser, a heat map of two variables, and the table of all cells.
// A part that is chosen in one of them, or in the table of its variable, is chosen in all.

function gridBlock(section) {
  const block = section.block("grid", "Grid");
  section.gridView = new GridView(section);
  section.grid.notes.forEach((note) => block.append(element("p", { className: "soft" }, note)));
  block.append(...section.gridView.elements());
  return block;
}

class GridView {
  constructor(section) {
    const { grid } = section;
    [this.section, this.grid] = [section, grid];
    this.measures = measuresOf(grid);
    this.measure = grid.event; // the share of the event
    this.axes = [...grid.axes];
    this.step = 0;
    this.byRows = false;
    this.order = 0;
    this.orders = ordersOf(grid);
    this.selection = new Selection(this, () => this.showSelection());
    this.state = element("p", { className: "state" }); // a screen reader gets the value of the slider
    this.choices = element("div", { className: "controls" });
    this.message = element("p", { className: "soft" });
    this.chart = new Chart("", (width) => this.heatSpec(width), 320);
    this.chart.onClick = ({ px, py }) => this.pick(this.axes, [px, py]);
    this.table = new Table("Cells", []);
    this.table.element.classList.add("own"); // its caption is the heading
    this.table.onPick = (i) => this.pick(this.split, this.cells.parts.map((of) => of[i]));
    this.slider = grid.merges.length ? this.makeSlider() : null;
    this.update();
  }

  heatSpec(width) {
    const ordered = this.orders.length ? this.orders[this.order].arrange(this.grid, this.variables) : this.variables;
    const measure = this.measures[this.measure];
    const chosen = this.selection.places(this.variables);
    return heatSpec(this.grid, { variables: ordered, axes: this.axes, measure, byRows: this.byRows, chosen }, width);
  }

  // Choose the parts of a cell; the same cell again frees them.
  pick(chosen, places) {
    this.selection.toggle(chosen, places.map((place, at) => this.variables[chosen[at]].placeOf.indexOf(place)));
  }

  showSelection() {
    const chosen = Object.entries(this.selection.places(this.variables));
    const at = (k) => this.split.indexOf(Number(k));
    const has = (i) => chosen.every(([k, place]) => at(k) < 0 || this.cells.parts[at(k)][i] === place);
    const kept = this.cells.rows.map((_, i) => i).filter(has);
    this.table.keepOnly(chosen.length ? new Set(kept) : null);
    this.selection.offer(this.variables, this.split);
    this.chart.draw();
  }

  elements() {
    const search = searchBox("Search the cells by their parts", (words) => this.table.filter(words));
    return [
      ...(this.slider ? [field("Coarsen the grid: merges made", this.slider), this.state] : []),
      this.section.heading(1, "sub", "Heat map"), this.choices, this.message, this.chart.element,
      this.section.heading(1, "sub", "Cells"), this.selection.element,
      element("div", { className: "controls" }, search), this.table.element,
    ];
  }

  makeSlider() {
    const slider = element("input", { type: "range", min: 0, max: this.grid.merges.length, step: 1, value: 0 });
    let isPending = false;
    slider.addEventListener("input", () => {
      this.step = Number(slider.value);
      this.describeStep();
      if (isPending) return;
      isPending = true; // one drawing for many small moves
      requestAnimationFrame(() => {
        isPending = false;
        this.update();
      });
    });
    return slider;
  }

  update() {
    this.variables = variablesAt(this.grid, this.step);
    this.split = this.variables.map((_, k) => k).filter((k) => this.variables[k].labels.length > 1);
    this.describeStep();
    this.offerChoices();
    this.drawHeat();
    this.cells = mostRowsFirst(cellsOver(this.grid, this.variables, this.split));
    this.table.show(cellColumns(this.grid, this.variables, this.split, this.cells));
    this.showSelection();
  }

  describeStep() {
    if (!this.slider) return;
    const size = ({ name, labels }, i) => [i ? "; " : "", given(seen(name)), `: ${counted(labels.length, "part")}`];
    const { cost, information } = this.step ? this.grid.merges[this.step - 1] : this.grid;
    const kept = `${formats.share(information)} of the information kept, cost ${formats.cost(cost)}`;
    const merges = `${counted(this.step, "merge")} of ${this.grid.merges.length}`;
    this.state.replaceChildren(`${merges}: ${kept}. `, ...variablesAt(this.grid, this.step).flatMap(size));
    this.slider.setAttribute("aria-valuetext", `${merges}, ${kept}`);
  }

  offerChoices() {
    if (!this.split.includes(this.axes[0]) || !this.split.includes(this.axes[1])) this.axes = this.split.slice(0, 2);
    const names = this.split.map((k) => this.variables[k].name);
    const axis = (label, at) => {
      const chosen = this.split.indexOf(this.axes[at]);
      return choice(label, names, chosen, (i) => this.chooseAxis(at, this.split[i]));
    };
    const measure = choice("Colour", this.measures.map(({ label }) => label), this.measure, (i) => {
      this.measure = i;
      this.drawHeat();
    });
    const axes = this.split.length > 2 ? [axis("Across", 0), axis("Up", 1)] : [];
    const size = choice("Size of a cell", ["equal", "by its rows"], Number(this.byRows), (i) => {
      this.byRows = i === 1;
      this.drawHeat();
    });
    const order = choice("Arrange by", this.orders.map(({ label }) => label), this.order, (i) => {
      this.order = i;
      this.drawHeat();
    });
    this.choices.replaceChildren(...axes, measure, size, ...(this.orders.length > 1 ? [order] : []));
  }

  // Choosing the variable of the other axis swaps the two.
  chooseAxis(at, k) {
    if (this.axes[1 - at] === k) this.axes[1 - at] = this.axes[at];
    this.axes[at] = k;
    this.offerChoices();
    this.drawHeat();
  }

  drawHeat() {
    const n = this.axes.length === 2 ? cellsOver(this.grid, this.variables, this.axes).rows.length : 0;
    const isDrawn = this.axes.length === 2 && n <= MAX_DRAWN_CELLS;
    this.chart.element.hidden = this.choices.hidden = !isDrawn;
    this.message.textContent = isDrawn ? "" : this.axes.length < 2
      ? "A heat map needs two variables with more than one part."
      : `${counted(n, "cell")} are too many for a heat map${this.slider ? ": merge some with the slider" : ""}.`;
    if (!isDrawn) return;
    const [x, y] = this.axes.map((k) => this.variables[k].name);
    const measure = this.measures[this.measure].label;
    this.chart.describe(`Heat map of ${x} and ${y}: ${measure} of each cell. The table of cells has the same numbers.`);
    this.chart.draw();
  }
}
