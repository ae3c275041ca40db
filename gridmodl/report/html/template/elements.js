// Elements are made here, and text only ever goes into text nodes: names and values are never markup.

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made && name !== "role") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// A name of the user's own, which may be written from right to left, or try to turn the line around.
const given = (...texts) => element("bdi", {}, ...texts);

// A text whose dates are not broken at their hyphens.
const unbroken = (text) => element("bdi", {}, ...text.split(/(\d{4}-\d\d-\d\d[\w:.]*)/).map((piece, i) => (
  i % 2 ? element("span", { className: "date" }, piece) : piece
)));

// A name for headings and lists, where nothing cannot be seen.
const seen = (name) => (name.trim() ? name : "(no name)");

let lastId = 0;
const newId = (stem) => `${stem}-${++lastId}`;

const counted = (n, what) => `${formats.count(n)} ${what}${n === 1 ? "" : "s"}`;

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const percent = new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
const exact = new Intl.NumberFormat("en", { minimumFractionDigits: 4, maximumFractionDigits: 4 });
const four = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const nine = new Intl.NumberFormat("en", { maximumSignificantDigits: 9 });

// Far from 1, the same digits with an exponent.
function shortNumber(value, plain = four) {
  const [size, digits] = [Math.abs(value), plain.resolvedOptions().maximumSignificantDigits];
  if (size === 0 || (size >= 1e-4 && size < 10 ** (digits + 5))) return plain.format(value);
  return value.toExponential(digits - 1);
}

// Two digits of a share that one decimal would make 0.
function shareText(value) {
  const isTiny = value !== 0 && Math.abs(value) < 0.0005;
  return isTiny ? `${shortNumber(Number((100 * value).toPrecision(2)))}%` : percent.format(value);
}

// How values are written: null stands for a number that is not there, a text for an infinity.
const written = (write) => (value) => {
  if (value === null) return "–";
  return typeof value === "number" ? write(value) : String(value);
};
const formats = {
  text: (value) => String(value),
  count: written((value) => whole.format(value)),
  share: written(shareText),
  number: written((value) => shortNumber(value)),
  cost: written((value) => exact.format(value)),
};

const MOST_DECIMALS = 8;

// How values of a target are written, given all columns of them: with the decimals that make four digits of their range.
function valueWriter(columns) {
  const numbers = columns.flat().filter((value) => typeof value === "number");
  const [low, high] = numbers.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const decimals = high > low ? Math.max(0, 3 - Math.floor(Math.log10(high - low))) : Infinity;
  const isPlain = decimals <= MOST_DECIMALS && Math.max(Math.abs(low), Math.abs(high)) < 1e14;
  if (!isPlain) return written((value) => shortNumber(value, nine));
  const format = new Intl.NumberFormat("en", { maximumFractionDigits: decimals });
  return written((value) => format.format(value));
}

const compareTexts = (a, b) => a.localeCompare(b, "en", { numeric: true });

// What to sort numbers by: infinities at both ends, and what is not there below all else.
function rank(value) {
  if (value === null) return -Infinity;
  if (value === "inf") return Number.MAX_VALUE;
  return value === "-inf" ? -Number.MAX_VALUE : value;
}

// A control with its label.
function field(label, control, classes = "") {
  control.id = control.id || newId("control");
  return element("div", { className: `field ${classes}` }, element("label", { htmlFor: control.id }, label), control);
}

function choice(label, options, chosen, onChange) {
  const control = element("select", {}, ...options.map((text, i) => element("option", { value: String(i) }, text)));
  control.value = String(chosen);
  control.addEventListener("change", () => onChange(Number(control.value)));
  return field(label, control);
}

// What a click on `head` opens.
const folded = (head, ...children) => element("details", { className: "inner" }, element("summary", {}, head), ...children);

function searchBox(label, onInput) {
  const control = element("input", { type: "search", autocomplete: "off", spellcheck: false });
  control.addEventListener("input", () => onInput(control.value.trim().toLowerCase()));
  return field(label, control, "wide");
}
