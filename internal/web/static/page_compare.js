import { history } from "./history.js";
import { Study } from "./study.js";

// The page that compares: the server has written the words and tables; this module draws the best
// so far of the studies on one axis.

/** @param {string} path @returns {Promise<any>} */
async function get(path) {
  const answer = await fetch("/api/v1/studies/" + path, { headers: { Accept: "application/json" } });
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.detail ?? answer.statusText);
  return data;
}

/** @param {string} name @returns {Promise<Study>} */
async function load(name) {
  const path = encodeURIComponent(name);
  const study = new Study(await get(path + "/answer"));
  for (let after = 0; ;) {
    const page = await get(`${path}/trials?format=columns&limit=100000&fields=value,elapsed,spent,started,ended${after ? "&after=" + after : ""}`);
    study.append(page.columns, study.best);
    if (!page.next) return study;
    after = page.next;
  }
}

/** @type {HTMLElement | null} */
const place = document.querySelector("[data-draw=history]");
if (place) {
  try {
    const studies = await Promise.all(JSON.parse(place.dataset.studies ?? "[]").map(load));
    place.replaceChildren();
    history(place, studies);
  } catch (e) {
    place.replaceChildren(String(/** @type {Error} */ (e).message));
  }
}
document.documentElement.dataset.drawn = "true";
