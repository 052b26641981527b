import { el } from "./dom.js";
import { parseNumber, parseText } from "./filter.js";
import { count, metric, seconds } from "./format.js";
import { state } from "./states.js";
import { visible } from "./study.js";

/** @typedef {import("./study.js").Study} Study */
/**
 * @typedef {{key: string, title: string, right: boolean, say: (k: number) => string, value: (k: number) => Num | string | undefined,
 *   parse: (text: string) => ((k: number) => boolean) | null}} Column
 */

const rowHeight = 28;

// columns returns the columns that a study has for the table: how a cell is printed, compared and chosen.
/** @param {Study} study @returns {Column[]} */
export function columns(study) {
  const t = study.trials;
  const numeric = (/** @type {string} */ key, /** @type {string} */ title, /** @type {Num[]} */ values,
    /** @type {(k: number) => string} */ say) => ({ key, title, right: true, say, value: (/** @type {number} */ k) => values[k],
    parse: (/** @type {string} */ text) => { const f = parseNumber(text); return f && ((/** @type {number} */ k) => f(values[k] ?? null)); } });
  const text = (/** @type {string} */ key, /** @type {string} */ title, /** @type {(k: number) => string} */ say) => ({ key, title, right: false, say,
    value: (/** @type {number} */ k) => say(k).toLowerCase(),
    parse: (/** @type {string} */ s) => { const f = parseText(s); return f && ((/** @type {number} */ k) => f(say(k))); } });
  /** @type {Column[]} */
  const all = [
    numeric("id", "trial", t.id, (k) => String(t.id[k])),
    text("state", "state", (k) => state(t.state[k]).text),
    numeric("value", study.metric, t.value, (k) => study.value(k)),
  ];
  for (const [i, p] of study.params.entries()) {
    const say = (/** @type {number} */ k) => visible(study.param(i, k));
    if (p.levels) all.push({ ...text("p:" + i, visible(p.name), say), value: (k) => t.config[i][k] });
    else all.push(numeric("p:" + i, visible(p.name), t.config[i], say));
  }
  for (const name of Object.keys(t.metrics).sort()) {
    if (name === study.metric) continue;
    all.push(numeric("m:" + name, visible(name), t.metrics[name], (k) => metric(t.metrics[name][k], study.unitOf(name))));
  }
  if (t.predicted.some((x) => x !== null)) {
    all.push(numeric("predicted", "expected", t.predicted, (k) => (t.predicted[k] === null ? "–" : study.say(t.predicted[k]))));
  }
  all.push(numeric("spent_s", "at", t.spent_s, (k) => (t.spent_s[k] === null ? "–" : seconds(t.spent_s[k]))));
  if (t.worker.some((w) => w !== "")) all.push(text("worker", "worker", (k) => visible(t.worker[k])));
  all.push(text("reason", "why", (k) => visible(study.reason(k))));
  return all;
}

// sorted returns the rows that a mask means, by a column; missing values come last whichever way.
/** @param {number} n @param {Uint8Array} mask @param {Column | null} column @param {boolean} down */
export function sorted(n, mask, column, down) {
  const rows = [];
  for (let k = 0; k < n; k++) if (mask[k]) rows.push(k);
  if (!column) return rows;
  /** @type {(Num | string | undefined)[]} */
  const values = new Array(n); // each is asked for once, not at every comparison
  for (const k of rows) values[k] = column.value(k);
  const missing = (/** @type {unknown} */ v) => v === null || v === undefined || v === "";
  const sign = down ? -1 : 1;
  return rows.sort((a, b) => {
    const x = values[a], y = values[b], p = missing(x), q = missing(y);
    if (p || q) return Number(p) - Number(q) || a - b;
    return (/** @type {any} */ (x) < /** @type {any} */ (y) ? -sign : /** @type {any} */ (x) > /** @type {any} */ (y) ? sign : 0) || a - b;
  });
}

// table shows the trials: sorted by a click on a title, filtered by the fields below it, and only
// the rows that are in sight are elements, so that a hundred thousand trials are no more than ten.
// j and k, or the arrows, go from row to row, Enter opens the page of its trial if there is one,
// and / goes to the first field.
/**
 * @param {HTMLElement} place @param {Study} study @param {import("./filter.js").Selection} selection
 * @param {{href?: (id: number) => string}} [options] @returns {Chart}
 */
export function table(place, study, selection, { href } = {}) {
  let all = columns(study);
  const view = { by: "id", down: false, rows: /** @type {number[]} */ ([]), at: -1 };
  const status = el("span", { class: "muted", "aria-live": "polite" });
  const clear = el("button", { type: "button", onclick: () => selection.clear() }, "clear all conditions");
  place.append(el("div", { class: "bar" }, status, clear,
    el("span", { class: "muted" }, "Fields take 3, 2..8, >= 2, !5, or a part of a text; several with commas. Times are in s, sizes in B. ",
      el("kbd", {}, "j"), " ", el("kbd", {}, "k"), " go from row to row, ", el("kbd", {}, "/"), " to the fields.")));
  const live = el("div", { class: "live", "aria-live": "polite" });
  const headGroup = el("div", { role: "rowgroup", class: "head" });
  const body = el("div", { role: "rowgroup", class: "body" });
  const id = "trials-" + Math.random().toString(36).slice(2, 8);
  const box = el("div", { class: "trials", role: "grid", "aria-label": `trials of ${study.study}`, "aria-readonly": "true", tabIndex: 0 }, headGroup, body);
  place.append(box, live);
  /** @type {HTMLElement[]} */
  let heads = [];
  /** @type {HTMLInputElement[]} */
  let fields = [];
  /** @type {number[]} */
  let widths = [];
  let template = "";

  const line = (/** @type {HTMLElement[]} */ cells, extra = {}) => {
    const r = el("div", { role: "row", class: "row", ...extra }, ...cells);
    r.style.gridTemplateColumns = template;
    return r;
  };

  // head makes the titles and the fields, again when a metric appears that there was not.
  function head() {
    widths = all.map(width);
    template = widths.map((w) => w + "px").join(" ");
    heads = all.map((c) => el("span", { role: "columnheader", class: c.right ? "num" : "", "aria-sort": "none" },
      el("button", { type: "button", class: "sort", onclick: () => {
        view.down = view.by === c.key ? !view.down : false;
        view.by = c.key;
        order();
      } }, c.title)));
    fields = all.map((c) => el("input", { type: "text", "aria-label": `condition on ${c.title}`, spellcheck: false,
      oninput: (/** @type {InputEvent} */ e) => {
        const field = /** @type {HTMLInputElement} */ (e.target), text = field.value;
        const test = text.trim() === "" ? null : c.parse(text);
        field.setAttribute("aria-invalid", String(text.trim() !== "" && !test));
        selection.set(c.key, test ? { text, test } : null);
      } }));
    headGroup.replaceChildren(line(heads, { "aria-rowindex": 1 }),
      line(fields.map((f) => el("span", { role: "gridcell" }, f)), { "aria-rowindex": 2 }));
    box.setAttribute("aria-colcount", String(all.length));
  }

  function width(/** @type {Column} */ c) {
    let longest = c.title.length + 3;
    const every = Math.max(1, Math.floor(study.n / 200));
    for (let k = 0; k < study.n; k += every) longest = Math.max(longest, c.say(k).length);
    return Math.min(Math.max(64, longest * 7.4 + 20), c.key === "reason" ? 360 : 200);
  }

  function order() {
    const was = view.rows[view.at];
    for (const [i, c] of all.entries()) {
      heads[i].setAttribute("aria-sort", c.key === view.by ? (view.down ? "descending" : "ascending") : "none");
      if (document.activeElement !== fields[i] && fields[i].value !== selection.text(c.key)) {
        fields[i].value = selection.text(c.key);
        fields[i].setAttribute("aria-invalid", "false");
      }
    }
    view.rows = sorted(study.n, selection.mask(), all.find((c) => c.key === view.by) ?? null, view.down);
    view.at = was === undefined ? -1 : view.rows.indexOf(was);
    status.textContent = `${count(view.rows.length)} of ${count(study.n)} trials`;
    clear.hidden = selection.empty;
    box.setAttribute("aria-rowcount", String(view.rows.length + 2));
    body.style.height = Math.max(1, view.rows.length) * rowHeight + "px";
    body.style.width = widths.reduce((a, b) => a + b, 0) + 16 + "px";
    show(true);
  }

  let from = -1, to = -1;
  function show(/** @type {boolean} */ force) {
    const above = headGroup.offsetHeight;
    const a = Math.max(0, Math.floor(box.scrollTop / rowHeight) - 8);
    const b = Math.min(view.rows.length, Math.ceil((box.scrollTop + box.clientHeight - above) / rowHeight) + 8);
    if (!force && a === from && b === to) return;
    [from, to] = [a, b];
    const lines = [];
    for (let i = a; i < b; i++) lines.push(row(i));
    if (view.rows.length === 0) {
      lines.push(el("div", { role: "row", class: "row", "aria-rowindex": 3 }, el("span", { role: "gridcell" }, "No trial meets all conditions.")));
    }
    body.replaceChildren(...lines);
    const current = view.at >= a && view.at < b ? `${id}-${view.at}` : null;
    if (current) box.setAttribute("aria-activedescendant", current);
    else box.removeAttribute("aria-activedescendant");
  }

  function row(/** @type {number} */ i) {
    const k = view.rows[i], best = k === study.bestRow;
    const cells = all.map((c) => {
      const text = c.say(k);
      return el("span", { role: "gridcell", class: c.right ? "num" : "", title: text.length > 24 ? text : undefined }, text);
    });
    if (href) cells[0].replaceChildren(el("a", { href: href(study.trials.id[k]), tabIndex: -1 }, cells[0].textContent ?? ""));
    cells[1].classList.add("state", state(study.trials.state[k]).color);
    if (best) cells[0].append(" ★");
    const r = line(cells, { "aria-rowindex": i + 3, id: `${id}-${i}`, "aria-selected": String(i === view.at), onclick: () => go(i) });
    r.classList.toggle("is-best", best);
    r.classList.toggle("odd", i % 2 === 1);
    r.style.top = i * rowHeight + "px";
    return r;
  }

  // go makes a row the current one, brings it in sight and announces it.
  function go(/** @type {number} */ i) {
    if (view.rows.length === 0) return;
    view.at = Math.min(Math.max(i, 0), view.rows.length - 1);
    const y = view.at * rowHeight, room = box.clientHeight - headGroup.offsetHeight - rowHeight;
    if (y < box.scrollTop) box.scrollTop = y;
    else if (y > box.scrollTop + room) box.scrollTop = y - room;
    show(true);
    live.textContent = study.about(view.rows[view.at]).join(", ");
  }

  box.addEventListener("keydown", (e) => {
    if (e.target instanceof HTMLInputElement) {
      if (e.key === "Escape") box.focus();
      return;
    }
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const page = Math.max(1, Math.floor((box.clientHeight - headGroup.offsetHeight) / rowHeight) - 1);
    /** @type {Record<string, number>} */
    const keys = { j: view.at + 1, ArrowDown: view.at + 1, k: view.at - 1, ArrowUp: view.at - 1, PageDown: view.at + page,
      PageUp: view.at - page, Home: 0, End: view.rows.length - 1 };
    if (e.key === "/") fields[0].focus();
    else if (e.key === "Enter" && href && view.at >= 0 && !(e.target instanceof HTMLButtonElement)) location.assign(href(study.trials.id[view.rows[view.at]]));
    else if (e.key in keys) go(keys[e.key]);
    else return;
    e.preventDefault();
  });
  box.addEventListener("scroll", () => requestAnimationFrame(() => show(false)));
  new ResizeObserver(() => show(true)).observe(box);
  selection.listen(order);
  head();
  order();
  return { update: () => {
    const now = columns(study), same = now.map((c) => c.key).join() === all.map((c) => c.key).join();
    if (!same && !fields.includes(/** @type {HTMLInputElement} */ (document.activeElement))) {
      all = now;
      head();
    }
    order();
  } };
}
