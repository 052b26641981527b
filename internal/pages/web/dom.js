// Elements, made without markup: text is only ever text.

// el makes an element. Properties that start with "on" are listeners, "class" and names with "-"
// are attributes, as is "role"; children are elements or texts.
export function el(tag, properties = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (name === "class" || name === "role" || name === "for" || name.includes("-")) e.setAttribute(name, value);
    else e[name] = value;
  }
  e.append(...children.filter((c) => c !== null));
  return e;
}

// color returns a colour of the style under its name.
export function color(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }

const themed = [];

// onTheme calls f whenever the colours change.
export function onTheme(f) { themed.push(f); }

export function themeChanged() { for (const f of themed) f(); }

// choice makes a group of buttons of which one is pressed, and calls pick with its value.
export function choice(label, options, value, pick) {
  const group = el("span", { class: "choice", role: "group", "aria-label": label }, el("span", { class: "label" }, label));
  const buttons = options.map(([v, text]) =>
    el("button", { type: "button", "aria-pressed": String(v === value), onclick: () => {
      for (const [i, b] of buttons.entries()) b.setAttribute("aria-pressed", String(options[i][0] === v));
      pick(v);
    } }, text));
  group.append(...buttons);
  return group;
}

// grid makes a table of texts; align is "r" for a column of numbers.
export function grid(head, rows, align = "") {
  const cell = (tag, text, i) => el(tag, { class: align[i] === "r" ? "num" : null, scope: tag === "th" ? "col" : undefined }, text);
  return el("table", { class: "grid" },
    el("thead", {}, el("tr", {}, ...head.map((t, i) => cell("th", t, i)))),
    el("tbody", {}, ...rows.map((r) => el("tr", {}, ...r.map((t, i) => cell("td", t, i))))));
}
