// The face of a PartitionEditor: draws each state that Python sends, and sends back what the user asks for.
// All texts of the user go through textContent or value, never through innerHTML.

const number = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });
const decimals = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const MANY = 20; // parts up to which none scrolls
const HINT = "A price is the change of the cost: + is dearer than the parts as they are, − is cheaper.";
const small = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });
const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(share > 0 && share < 0.001 ? 3 : 1)}%`);
const signed = (x) => {
  if (x === null || x === undefined) return "–";
  const size = decimals.format(Math.abs(x));
  return size === decimals.format(0) ? size : `${x < 0 ? "−" : "+"}${size}`; // costs add up to 0 but for their last digits
};
const plural = (n, what) => `${number.format(n)} ${what}${n === 1 ? "" : "s"}`;

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const button = (key, text, title, onclick, more = {}) =>
  make("button", { type: "button", "data-key": key, title, onclick, ...more }, text);

function price(delta) {
  const kind = delta > 1e-9 ? "more" : delta < -1e-9 ? "less" : "same";
  return make("span", { class: `price ${kind}` }, signed(delta));
}

function render({ model, el }) {
  const root = make("section", { class: "gridmodl-editor" });
  let renaming = null; // number of the part whose name is being typed
  let drafts = {}; // texts typed so far, by key
  let later = 0;

  const state = () => model.get("state");
  const send = (command) => {
    root.setAttribute("aria-busy", "true");
    model.send({ version: state().version, ...command });
  };

  function heading(now) {
    const facts = `${plural(now.parts.length, "part")} of ${plural(now.rows, "row")} · cost ${decimals.format(now.cost)}`;
    const change = make("span", { class: "change" }, now.undo ? "change so far " : "no change so far", now.undo ? price(now.change) : "");
    return make("header", {}, make("h3", {}, now.column), make("p", {}, facts, " · ", change),
      now.trend ? make("p", { class: now.trend.includes("not monotone") ? "trend no" : "trend" }, now.trend) : null);
  }

  function toolbar(now) {
    const bar = make("div", { class: "bar", role: "toolbar", "aria-label": "Steps" },
      button("undo", "↶ Undo", now.undo ? `Undo: ${now.undo} (Ctrl+Z)` : "Nothing to undo", () => send({ do: "undo" }), { disabled: !now.undo }),
      button("redo", "↷ Redo", now.redo ? `Redo: ${now.redo} (Ctrl+Y)` : "Nothing to redo", () => send({ do: "redo" }), { disabled: !now.redo }),
      button("reset", "Original", "Back to the original parts", () => send({ do: "reset" }), { disabled: !now.undo }));
    if (now.together) {
      const can = now.together.delta !== null;
      bar.append(button("together", "", can ? "Merge the selected parts" : now.together.error,
        () => send({ do: "merge", parts: now.selected }), { disabled: !can, class: "main" }));
      bar.lastChild.append(`Merge ${now.selected.length} selected `, can ? price(now.together.delta) : "");
      if (!can) bar.append(make("span", { class: "why" }, now.together.error));
    }
    return bar;
  }

  function bar(share, kind, most) {
    if (share === null) return null;
    const width = Math.min(1, Math.abs(share) / (most || 1));
    const style = kind === "signed"
      ? { left: share < 0 ? `${50 - 50 * width}%` : "50%", width: `${50 * width}%` }
      : { left: "0", width: `${100 * width}%` };
    return make("span", { class: `track ${kind}`, "aria-hidden": "true" }, make("span", { style }));
  }

  const cell = (label, text, drawn) =>
    make("div", { class: "number" }, make("span", { class: "label" }, `${label} `), make("span", {}, text), drawn);

  function nameOf(part, i) {
    if (renaming !== i) {
      const begin = () => { renaming = i; draw(); root.querySelector("[data-key=rename]").select(); };
      return make("div", { class: "name" },
        make("span", { class: "text", title: `${part.label} – double click to rename`, ondblclick: begin }, part.name),
        button(`pen${i}`, "✎", `Rename ${part.name}`, begin, { class: "quiet", "aria-label": `Rename ${part.name}` }));
    }
    const done = (text) => {
      if (renaming !== i) return;
      if (text === null || text === part.name) {
        renaming = null;
        drafts = {};
        draw(`pen${i}`);
      } else if (text !== drafts.sent) { // a name that was refused stays to be mended
        drafts.rename = drafts.sent = text;
        send({ do: "rename", part: i, text });
      }
    };
    const input = make("input", {
      "data-key": "rename", "aria-label": `New name of ${part.name}`, maxlength: 200,
      oninput: (event) => { drafts.rename = event.target.value; },
      onblur: (event) => { if (event.target.isConnected) done(event.target.value); },
      onkeydown: (event) => {
        if (event.key === "Enter") {
          event.preventDefault(); // or else it would click what gets the focus
          done(event.target.value);
        }
        if (event.key === "Escape") done(null);
        event.stopPropagation();
      },
    });
    input.value = drafts.rename ?? part.name;
    return make("div", { class: "name" }, input);
  }

  function row(now, part, i, most) {
    const isSelected = now.selected.includes(i), isOpen = now.open?.part === i;
    const select = make("input", {
      type: "checkbox", "data-key": `select${i}`, "aria-label": `Select ${part.name}`, disabled: !part.merges,
      onchange: (event) => {
        const others = now.selected.filter((other) => other !== i);
        send({ do: "select", parts: event.target.checked ? [...others, i] : others });
      },
    });
    select.checked = isSelected;
    const measures = now.measures.map((measure, j) => {
      const value = part.measures[j];
      const text = measure.kind === "rate" ? percent(value) : measure.kind === "signed" ? signed(value) : value === null ? "–" : small.format(value);
      return cell(measure.title, text, measure.kind === "number" ? null : bar(value, measure.kind, most[j]));
    });
    const actions = make("div", { class: "actions" });
    const pair = now.kind === "categorical" && now.selected.length === 1 &&
      now.merges.find(([a, b]) => (a === i || b === i) && i !== now.selected[0]);
    if (pair) {
      actions.append(button(`with${i}`, "", `Merge with ${now.parts[now.selected[0]].name}`, () => send({ do: "merge", parts: pair.slice(0, 2) })));
      actions.lastChild.append("merge ", price(pair[2]));
    }
    if (part.splits) {
      actions.append(button(`split${i}`, "Split", `Split ${part.name}`, () => send(isOpen ? { do: "close" } : { do: "open", part: i }),
        { "aria-expanded": String(isOpen), "aria-label": `Split ${part.name}` }));
    }
    return make("li", { class: isSelected ? "part selected" : "part" }, make("label", { class: "pick" }, select), nameOf(part, i),
      make("div", { class: "numbers" },
        cell("rows", `${number.format(part.rows)} (${percent(part.share)})`, bar(part.share, "share", most.share)),
        ...measures, shares(now, part)),
      actions, isOpen ? panel(now) : null);
  }

  function shares(now, part) {
    if (part.largest) {
      const largest = cell(now.classes_title, part.largest, null);
      largest.classList.add("wide");
      return largest;
    }
    if (!now.classes.length) return null;
    const text = now.classes.map((name, j) => `${name} ${percent(part.shares[j])}`).join(", ");
    return make("div", { class: "number wide" }, make("span", { class: "label" }, `${now.classes_title} `),
      make("span", { class: "stack", role: "img", "aria-label": text, title: text },
        ...part.shares.map((share, j) => make("span", { class: `class${j}`, style: { width: `${100 * share}%` } }))));
  }

  function between(now, i) {
    const found = now.kind !== "categorical" && now.merges.find(([a]) => a === i);
    if (!found) return null;
    const names = `${now.parts[i].name} and ${now.parts[found[1]].name}`;
    const one = button(`merge${i}`, "", `Merge ${names}`, () => send({ do: "merge", parts: found.slice(0, 2) }),
      { "aria-label": `Merge ${names}, cost ${signed(found[2])}` });
    one.append("⇕ merge ", price(found[2]));
    return make("li", { class: "between" }, one);
  }

  function panel(now) {
    const { offers, note, values, ...open } = now.open;
    const box = make("div", { class: "panel", role: "group", "aria-label": `Split ${now.parts[open.part].name}` });
    if (offers.length) {
      box.append(make("div", { class: "bar" }, ...offers.map((offer, k) => {
        const one = button(`offer${k}`, "", "Split so", () => send({ do: "split", offer: k }));
        one.append(`${offer.text} `, price(offer.delta));
        return one;
      })));
    }
    if (note) box.append(make("p", { class: "note" }, note));
    box.append(values === null ? typed() : choice(now, values, open));
    return box;
  }

  function typed() {
    const input = make("input", {
      "data-key": "bound", inputmode: "text", size: 12, "aria-label": "Bound of your own", placeholder: "own bound",
      oninput: (event) => { drafts.bound = event.target.value; },
      onkeydown: (event) => event.stopPropagation(),
    });
    input.value = drafts.bound ?? "";
    return make("form", { class: "bar", onsubmit: (event) => { event.preventDefault(); send({ do: "split", bound: input.value }); } },
      input, make("button", { type: "submit", "data-key": "at" }, "Split here"));
  }

  function choice(now, values, open) {
    const choose = (places, find) => send({ do: "choose", values: places, find });
    const find = make("input", {
      type: "search", "data-key": "find", "aria-label": "Find values", placeholder: "find values",
      oninput: (event) => {
        drafts.find = event.target.value;
        clearTimeout(later);
        later = setTimeout(() => choose(now.open.chosen, drafts.find), 200);
      },
      onkeydown: (event) => event.stopPropagation(),
    });
    find.value = drafts.find ?? open.find;
    const boxes = values.map((value) => {
      const box = make("input", {
        type: "checkbox", "data-key": `value${value.place}`,
        onchange: (event) => {
          const others = open.chosen.filter((place) => place !== value.place);
          choose(event.target.checked ? [...others, value.place] : others, find.value);
        },
      });
      box.checked = value.chosen;
      return make("label", {}, box, ` ${value.text}`);
    });
    const can = open.delta !== null;
    const go = button("apart", "", "The chosen values become a part of their own", () => send({ do: "split" }), { class: "main", disabled: !can });
    go.append(`Split ${open.chosen.length} of ${open.n_values} off `, can ? price(open.delta) : "");
    return make("div", {}, make("div", { class: "values" }, ...boxes),
      open.more ? make("p", { class: "note" }, `and ${number.format(open.more)} more; find them by a part of their text`) : null,
      make("div", { class: "bar" }, open.n_values > 12 ? find : null, go, open.error ? make("span", { class: "why" }, open.error) : null));
  }

  function suggestions(now) {
    if (now.kind !== "categorical" || now.selected.length || !now.merges.length) return null;
    const cheapest = [...now.merges].sort((a, b) => a[2] - b[2]);
    return make("div", { class: "cheapest" }, make("p", { class: "note" }, "Cheapest merges (or select parts):"),
      make("div", { class: "bar" }, ...cheapest.map(([i, j, delta]) => {
        const one = button(`pair${i}-${j}`, "", "Merge these two", () => send({ do: "merge", parts: [i, j] }));
        one.append(make("span", {}, `${now.parts[i].name}  +  ${now.parts[j].name}`), " ", price(delta));
        return one;
      })));
  }

  function legend(now) {
    if (!now.classes.length) return null;
    return make("p", { class: "legend" }, ...now.classes.map((name, j) => make("span", {}, make("i", { class: `class${j}`, "aria-hidden": "true" }), name)));
  }

  function draw(focus) {
    const now = state();
    const active = root.contains(document.activeElement) ? document.activeElement : null;
    const key = focus ?? active?.dataset?.key;
    const caret = active?.tagName === "INPUT" && active.type !== "checkbox" ? [active.selectionStart, active.selectionEnd] : null;
    const boxes = [".values", ".parts"]; // that scroll
    const scrolled = boxes.map((box) => root.querySelector(box)?.scrollTop ?? 0);
    const most = now.measures.map((_, j) => Math.max(...now.parts.map((part) => Math.abs(part.measures[j] ?? 0))));
    most.share = Math.max(...now.parts.map((part) => part.share));
    const columns = 1 + now.measures.length + (now.classes_title ? 1 : 0);
    const list = make("ol", { class: now.parts.length > MANY ? "parts many" : "parts", "aria-label": `Parts of ${now.column}`, style: { "--columns": columns, "--actions": now.kind === "categorical" ? "11rem" : "5rem" } });
    list.append(make("li", { class: "titles", "aria-hidden": "true" }, make("span"), make("span", {}, "part"), make("span", {}, "rows"),
      ...now.measures.map((measure) => make("span", {}, measure.title)), now.classes_title ? make("span", {}, now.classes_title) : "", make("span")));
    now.parts.forEach((part, i) => {
      list.append(row(now, part, i, most));
      const merge = between(now, i);
      if (merge) list.append(merge);
    });
    const status = make("p", { class: now.is_error ? "status error" : "status", role: "status" }, now.message || HINT);
    root.replaceChildren(...[heading(now), toolbar(now), status, list, legend(now), suggestions(now)].filter(Boolean));
    boxes.forEach((box, k) => { const found = root.querySelector(box); if (found) found.scrollTop = scrolled[k]; });
    if (key) {
      const wanted = root.querySelector(`[data-key="${key}"]:not(:disabled)`) ?? root.querySelector("[data-key=undo]:not(:disabled)");
      wanted?.focus({ preventScroll: true });
      if (caret && wanted?.dataset.key === key && wanted.tagName === "INPUT") wanted.setSelectionRange(...caret);
    }
  }

  let version = state().version;
  const changed = () => {
    let focus;
    if (state().version !== version || (drafts.sent !== undefined && !state().is_error)) {
      version = state().version;
      if (root.contains(document.activeElement) && document.activeElement.dataset.key === "rename") focus = `pen${renaming}`;
      renaming = null;
      drafts = {};
      clearTimeout(later);
    }
    root.removeAttribute("aria-busy");
    draw(focus);
  };
  root.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey)) return;
    const pressed = event.key.toLowerCase();
    const step = pressed === "y" || (pressed === "z" && event.shiftKey) ? "redo" : pressed === "z" ? "undo" : null;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation(); // the notebook has an undo of its own
    if (state()[step]) send({ do: step });
  });
  model.on("change:state", changed);
  el.append(root);
  draw();
  return () => model.off("change:state", changed);
}

export default { render };
