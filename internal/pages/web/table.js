import { el } from "./dom.js";
import { parseNumber, parseText } from "./filter.js";
import { count, metric, number, seconds } from "./format.js";
import { state } from "./states.js";
import { unitOf, visible } from "./study.js";

const rowHeight = 28;

// columns returns what the table can show of a study: how a cell is said, compared and chosen.
export function columns(study) {
  const t = study.trials;
  const numeric = (key, title, values, say) => ({ key, title, right: true, say, value: (k) => values[k],
    parse: (text) => { const f = parseNumber(text); return f && ((k) => f(values[k])); } });
  const text = (key, title, say) => ({ key, title, right: false, say, value: (k) => say(k).toLowerCase(),
    parse: (s) => { const f = parseText(s); return f && ((k) => f(say(k))); } });
  const all = [
    numeric("id", "trial", t.id, (k) => String(t.id[k])),
    text("state", "state", (k) => state(t.state[k]).text),
    numeric("value", study.metric, t.value, (k) => study.value(k)),
  ];
  for (const [i, p] of study.params.entries()) {
    const say = (k) => visible(study.param(i, k));
    if (p.levels) all.push({ ...text("p:" + i, visible(p.name), say), value: (k) => t.config[i][k] });
    else all.push(numeric("p:" + i, visible(p.name), t.config[i], say));
  }
  for (const name of Object.keys(t.metrics).sort()) {
    if (name === study.metric) continue;
    all.push(numeric("m:" + name, visible(name), t.metrics[name], (k) => metric(t.metrics[name][k], unitOf(name))));
  }
  all.push(numeric("spent", "at", t.spent, (k) => (t.spent[k] === null ? "–" : seconds(t.spent[k]))));
  all.push(text("reason", "why", (k) => visible(study.reason(k))));
  return all;
}

// sorted returns the rows that a mask means, by a column; missing values come last whichever way.
export function sorted(n, mask, column, down) {
  const rows = [];
  for (let k = 0; k < n; k++) if (mask[k]) rows.push(k);
  if (!column) return rows;
  const missing = (v) => v === null || v === undefined || v === "";
  return rows.sort((a, b) => {
    const x = column.value(a), y = column.value(b);
    if (missing(x) || missing(y)) return missing(x) - missing(y) || a - b;
    const d = x < y ? -1 : x > y ? 1 : 0;
    return (down ? -d : d) || a - b;
  });
}

// table shows the trials: sorted by a click on a title, filtered by the fields below it, and only
// the rows that are in sight are elements, so that ten thousand trials are no more than ten.
export function table(place, study, selection) {
  const all = columns(study);
  const view = { by: all[0], down: false, rows: [] };
  const status = el("span", { class: "muted", "aria-live": "polite" });
  const clear = el("button", { type: "button", onclick: () => selection.clear() }, "clear all conditions");
  place.append(el("div", { class: "bar" }, status, clear,
    el("span", { class: "muted" }, "Fields take 3, 2..8, >= 2, !5, or a part of a text; several with commas. Times are in s, sizes in B.")));

  const widths = all.map(width);
  const template = widths.map((w) => w + "px").join(" ");
  const heads = all.map((c) => el("span", { role: "columnheader", class: c.right ? "num" : "", "aria-sort": "none" },
    el("button", { type: "button", class: "sort", onclick: () => {
      view.down = view.by === c ? !view.down : false;
      view.by = c;
      order();
    } }, c.title)));
  const fields = all.map((c) => el("input", { type: "text", "aria-label": `condition on ${c.title}`, spellcheck: false,
    oninput: (e) => {
      const text = e.target.value;
      const test = text.trim() === "" ? null : c.parse(text);
      e.target.setAttribute("aria-invalid", String(text.trim() !== "" && !test));
      selection.set(c.key, test ? { text, test } : null);
    } }));
  const line = (cells, extra = {}) => {
    const r = el("div", { role: "row", class: "row", ...extra }, ...cells);
    r.style.gridTemplateColumns = template;
    return r;
  };
  const body = el("div", { role: "rowgroup", class: "body" });
  const grid = el("div", { class: "trials", role: "table", "aria-label": `trials of ${study.study}`, "aria-rowcount": study.n + 1, tabIndex: 0 },
    el("div", { role: "rowgroup", class: "head" }, line(heads, { "aria-rowindex": 1 }), line(fields.map((f) => el("span", { role: "cell" }, f)))), body);
  place.append(grid);

  function width(c) {
    let most = c.title.length + 3;
    const every = Math.max(1, Math.floor(study.n / 200));
    for (let k = 0; k < study.n; k += every) most = Math.max(most, c.say(k).length);
    return Math.min(Math.max(64, most * 7.4 + 20), c.key === "reason" ? 360 : 200);
  }

  function order() {
    for (const [i, c] of all.entries()) {
      heads[i].setAttribute("aria-sort", c === view.by ? (view.down ? "descending" : "ascending") : "none");
      if (document.activeElement !== fields[i] && fields[i].value !== selection.text(c.key)) {
        fields[i].value = selection.text(c.key);
        fields[i].setAttribute("aria-invalid", "false");
      }
    }
    view.rows = sorted(study.n, selection.mask(), view.by, view.down);
    status.textContent = `${count(view.rows.length)} of ${count(study.n)} trials`;
    clear.hidden = selection.conditions.size === 0;
    body.style.height = view.rows.length * rowHeight + "px";
    body.style.width = widths.reduce((a, b) => a + b, 0) + 16 + "px";
    show(true);
  }

  let from = -1, to = -1;
  function show(force) {
    const head = grid.firstChild.offsetHeight;
    const a = Math.max(0, Math.floor(grid.scrollTop / rowHeight) - 8);
    const b = Math.min(view.rows.length, Math.ceil((grid.scrollTop + grid.clientHeight - head) / rowHeight) + 8);
    if (!force && a === from && b === to) return;
    [from, to] = [a, b];
    const lines = [];
    for (let i = a; i < b; i++) {
      const k = view.rows[i], best = k === study.bestRow;
      const cells = all.map((c) => {
        const text = c.say(k);
        return el("span", { role: "cell", class: c.right ? "num" : "", title: text.length > 24 ? text : undefined }, text);
      });
      cells[1].classList.add("state", state(study.trials.state[k]).color);
      if (best) cells[0].append(" ★");
      const r = line(cells, { "aria-rowindex": i + 2 });
      r.classList.toggle("is-best", best);
      r.classList.toggle("odd", i % 2 === 1);
      r.style.top = i * rowHeight + "px";
      lines.push(r);
    }
    body.replaceChildren(...lines);
  }

  grid.addEventListener("scroll", () => requestAnimationFrame(() => show(false)));
  new ResizeObserver(() => show(true)).observe(grid);
  selection.listen(order);
  order();
}
