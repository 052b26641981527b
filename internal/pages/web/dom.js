// Elements, made without markup: text is only ever text.

// el makes an element. Properties that start with "on" are listeners, "class" and names with "-"
// are attributes, as is "role"; children are elements or texts.
/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [properties]
 * @param {(Node | string | null)[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, properties = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (name === "class" || name === "role" || name === "for" || name.includes("-")) e.setAttribute(name, value);
    else /** @type {any} */ (e)[name] = value;
  }
  e.append(...children.filter((c) => c !== null));
  return e;
}

/** @type {Map<string, string>} */
const colors = new Map();

// color returns a colour of the style under its name.
/** @param {string} name */
export function color(name) {
  let c = colors.get(name);
  if (c === undefined) {
    c = getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
    colors.set(name, c);
  }
  return c;
}

/** @type {(() => void)[]} */
const themed = [];

// onTheme calls f whenever the colours change.
/** @param {() => void} f */
export function onTheme(f) { themed.push(f); }

export function themeChanged() {
  colors.clear();
  for (const f of themed) f();
}

// choice makes a group of buttons of which one is pressed, and calls pick with its value.
/**
 * @template V
 * @param {string} label
 * @param {[V, string][]} options
 * @param {V} value
 * @param {(v: V) => void} pick
 */
export function choice(label, options, value, pick) {
  const group = el("span", { class: "choice", role: "group", "aria-label": label }, el("span", { class: "label" }, label));
  /** @type {HTMLButtonElement[]} */
  const buttons = options.map(([v, text]) =>
    el("button", { type: "button", "aria-pressed": String(v === value), onclick: () => {
      for (const [i, b] of buttons.entries()) b.setAttribute("aria-pressed", String(options[i][0] === v));
      pick(v);
    } }, text));
  group.append(...buttons);
  return group;
}

// toggle makes a button that is pressed or not, and calls set with which.
/** @param {string} text @param {boolean} on @param {(on: boolean) => void} set */
export function toggle(text, on, set) {
  const b = el("button", { type: "button", "aria-pressed": String(on), onclick: () => {
    on = !on;
    b.setAttribute("aria-pressed", String(on));
    set(on);
  } }, text);
  return b;
}

// select makes a labelled list of which one is chosen.
/** @param {string} label @param {[string, string][]} options @param {string} value @param {(v: string) => void} pick */
export function select(label, options, value, pick) {
  const s = el("select", { onchange: () => pick(s.value) }, ...options.map(([v, text]) => el("option", { value: v }, text)));
  s.value = value;
  return el("label", { class: "choice" }, el("span", { class: "label" }, label), s);
}

// grid makes a table of texts; align is "r" for a column of numbers.
/** @param {string[]} head @param {(string | Node)[][]} rows */
export function grid(head, rows, align = "") {
  const cell = (/** @type {"td" | "th"} */ tag, /** @type {string | Node} */ text, /** @type {number} */ i) =>
    el(tag, { class: align[i] === "r" ? "num" : null, scope: tag === "th" ? "col" : undefined }, text);
  return el("table", { class: "grid" },
    el("thead", {}, el("tr", {}, ...head.map((t, i) => cell("th", t, i)))),
    el("tbody", {}, ...rows.map((r) => el("tr", {}, ...r.map((t, i) => cell("td", t, i))))));
}

// copyable puts a button beside a text that copies it.
/** @param {Element} pre */
export function copyable(pre) {
  const button = el("button", { type: "button", class: "copy", onclick: async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent ?? "");
      button.textContent = "copied";
    } catch {
      getSelection()?.selectAllChildren(pre);
      button.textContent = "press Ctrl-C";
    }
    setTimeout(() => { button.textContent = "copy"; }, 2000);
  } }, "copy");
  pre.before(button);
}

// Tabled is the table under a chart, with the same data. It is made when it is opened, and again
// by update() while it is open.
export class Tabled {
  /** @param {Element} place @param {string} title @param {() => Node} make */
  constructor(place, title, make) {
    this.make = make;
    this.body = el("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": title });
    this.box = el("details", { ontoggle: () => this.update() }, el("summary", {}, "As a table: " + title), this.body);
    place.append(this.box);
    addEventListener("beforeprint", () => this.body.replaceChildren(this.make()));
  }

  update() { if (this.box.open) this.body.replaceChildren(this.make()); }
}
