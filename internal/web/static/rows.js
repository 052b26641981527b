import { seconds } from "./format.js";
import { visible } from "./study.js";

// Lists that the server has written and that go on: rows of templates, filled with texts.

// keyed gives a list a row for each of items, in their order. A row stays its item's, with its
// choices and the focus.
/**
 * @param {HTMLElement} body
 * @param {any[]} items
 * @param {(item: any) => string} key
 * @param {(row: any, item: any) => void} fill
 */
export function keyed(body, items, key, fill) {
  const template = /** @type {HTMLTemplateElement} */ (document.getElementById("row-" + body.id));
  const old = new Map(/** @type {HTMLElement[]} */ ([...body.children]).map((r) => [r.dataset.key, r]));
  const focus = /** @type {HTMLElement | null} */ (document.activeElement);
  let at = body.firstElementChild;
  for (const item of items) {
    const k = key(item);
    let row = old.get(k);
    old.delete(k);
    if (!row) {
      row = /** @type {HTMLElement} */ (template.content.firstElementChild?.cloneNode(true));
      row.dataset.key = k;
    }
    fill(row, item);
    if (row === at) at = row.nextElementSibling;
    else body.insertBefore(row, at);
  }
  for (const r of old.values()) r.remove();
  if (focus && body.contains(focus) && focus !== document.activeElement) focus.focus();
}

// put sets texts of a row by the names of their places. Nothing is markup.
/** @param {Element} row @param {Record<string, string>} texts */
export function put(row, texts) {
  for (const [name, text] of Object.entries(texts)) {
    const e = row.querySelector(`[data-f="${name}"]`);
    if (e && e.textContent !== text) e.textContent = text;
  }
}

// say sets the text of a place of the page.
/** @param {string} what @param {string} text */
export function say(what, text) {
  for (const e of document.querySelectorAll(`[data-live=${what}]`)) if (e.textContent !== text) e.textContent = text;
}

/** @param {string} text */
export function ago(text) {
  const s = (Date.now() - Date.parse(text)) / 1000;
  return s < 2 ? "now" : seconds(Math.floor(s)) + " ago";
}

/** @param {string} path @returns {Promise<any>} */
export async function get(path) {
  const answer = await fetch("/api/v1" + path, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).detail ?? answer.statusText);
  return answer.json();
}

// follow calls look again and again while the page is seen: a second after the last answer, or ten
// times as long as that took.
/** @param {() => Promise<boolean | void>} look */
export function follow(look) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const next = async () => {
    clearTimeout(timer);
    if (document.hidden) return;
    const t0 = performance.now();
    let on = true;
    try {
      on = (await look()) !== false;
      say("link", on ? "live" : "");
    } catch (e) {
      say("link", e instanceof TypeError ? "the server is away; trying again" : visible(e instanceof Error ? e.message : String(e)));
    }
    if (on) timer = setTimeout(next, Math.max(1000, 10 * (performance.now() - t0)));
  };
  document.addEventListener("visibilitychange", next);
  next();
}

/** @param {any} e */
export const ref = (e) => `${e.study}/${e.trial}`;
/** @param {any} e */
export const link = (e) => `/s/${encodeURIComponent(e.study)}/t/${e.trial}`;
export { visible };
