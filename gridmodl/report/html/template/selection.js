// Parts that are chosen, by variable of the grid: lists choose them by keyboard, clicks in charts and tables by mouse.

const MAX_LISTS = 8; // variables with a list

// A table of parts shows what is chosen, and a click on a row chooses.
function linkParts(section, variable, table) {
  const k = section.grid ? section.grid.variables.findIndex(({ name }) => name === variable.name) : -1;
  if (k < 0) return;
  section.linked.push({ k, table });
  table.marked = (i) => section.gridView !== null && section.gridView.selection.has(k, i);
  table.onPick = (i) => section.gridView.selection.toggle([k], [i]);
  table.draw();
}

class Selection {
  constructor(view, onChange) {
    [this.view, this.onChange, this.chosen] = [view, onChange, new Map()];
    this.element = element("div", { className: "controls", role: "group", "aria-label": "Chosen parts" });
  }

  // Where the chosen parts went in merges, by variable.
  places(variables) {
    return Object.fromEntries([...this.chosen].map(([k, part]) => [k, variables[k].placeOf[part]]));
  }

  has(k, part) {
    if (!this.chosen.has(k)) return false;
    const { placeOf } = this.view.variables[k];
    return placeOf[part] === placeOf[this.chosen.get(k)];
  }

  toggle(variables, parts) {
    const isThere = variables.every((k, at) => this.has(k, parts[at]));
    variables.forEach((k, at) => (isThere ? this.chosen.delete(k) : this.chosen.set(k, parts[at])));
    this.change();
  }

  change() {
    this.onChange();
    this.view.section.linked.forEach(({ table }) => table.draw());
  }

  // A list for each variable, the first of many, and a button that frees all.
  offer(variables, split) {
    const places = this.places(variables);
    const held = document.activeElement && this.element.contains(document.activeElement);
    const at = held ? [...this.element.querySelectorAll("select, button")].indexOf(document.activeElement) : -1;
    const lists = split.slice(0, MAX_LISTS).map((k) => {
      const chosen = places[k] === undefined ? 0 : places[k] + 1;
      return choice(`Only ${variables[k].name}`, ["all parts", ...variables[k].labels], chosen, (i) => {
        if (i) this.chosen.set(k, variables[k].placeOf.indexOf(i - 1));
        else this.chosen.delete(k);
        this.change();
      });
    });
    const free = element("button", { type: "button", disabled: !this.chosen.size }, "Show all cells");
    free.addEventListener("click", () => {
      this.chosen.clear();
      this.change();
    });
    this.element.replaceChildren(...lists, ...(split.length ? [free] : []));
    if (at >= 0) this.element.querySelectorAll("select, button")[at]?.focus();
  }
}

// Orders of groups along the axes of a heat map: { label, arrange }; intervals stay in theirs. None without groups.
function ordersOf(grid) {
  if (grid.variables.every(({ is_numerical: isNumerical }) => isNumerical)) return [];
  const arranged = (variables, key) =>
    variables.map((variable, k) => {
      if (variable.isNumerical) return variable;
      const keys = variable.labels.map((_, i) => key(variable, i, k));
      return { ...variable, order: keys.map((_, i) => i).sort((a, b) => keys[a] - keys[b] || a - b) };
    });
  const leaves = leavesOf(grid);
  const hierarchy = (_, variables) => arranged(variables, ({ placeOf }, i, k) => leaves[k][placeOf.indexOf(i)]);
  return [
    ...(grid.merges.length ? [{ label: "hierarchy", arrange: hierarchy }] : []),
    { label: "number", arrange: (_, variables) => variables },
    { label: "rows", arrange: (_, variables) => arranged(variables, ({ rows }, i) => -rows[i]) },
  ];
}

// The place of each part of each variable among the leaves of its dendrogram: parts that merge early are neighbours.
function leavesOf(grid) {
  const lists = grid.variables.map(({ labels }) => labels.map((_, i) => [i]));
  for (const { variable, stays, goes } of grid.merges) {
    lists[variable][stays] = [...lists[variable][stays], ...lists[variable][goes]];
    lists[variable][goes] = [];
  }
  return lists.map((of) => {
    const places = [];
    of.flat().forEach((part, place) => (places[part] = place));
    return places;
  });
}
