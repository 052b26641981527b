import { history } from "./history.js";
import { asked, columnsOf, merge, told } from "./grow.js";
import { Study } from "./study.js";

// The page of a study: the server has said in words what there is; here the charts are drawn of
// the same data by the API, and grow with its events.

const place = document.getElementById("study");
const name = place.dataset.study;
const base = "/api/v1/studies/" + encodeURIComponent(name);

async function get(path) {
  const answer = await fetch(base + path, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error((await answer.json()).detail ?? answer.statusText);
  return answer.json();
}

async function trials() {
  let all = null;
  for (let after = 0; ;) {
    const page = await get(`/trials?format=columns&limit=100000${after ? "&after=" + after : ""}`);
    all = all ? merge(all, page.columns) : page.columns;
    if (!page.next) return all;
    after = page.next;
  }
}

async function start() {
  const [head, columns] = await Promise.all([get("/answer"), trials()]);
  const draw = () => {
    const study = new Study({ ...head, price: 0, trials: columnsOf(columns, head) });
    const at = document.querySelector("[data-draw=history]");
    const fresh = document.createElement("div");
    at.replaceChildren(fresh);
    history(fresh, [study]);
    const count = (s) => columns.state.filter((x) => x === s).length;
    say("counts", `${count("done")} done, ${count("censored")} stopped, ${count("failed")} failed, ${count("running")} running`);
    if (study.bestRow >= 0) say("best", study.value(study.bestRow));
  };
  draw();
  follow(columns, head, draw);
  document.documentElement.dataset.drawn = "true";
}

// follow takes in the events behind those that the page was made of, which are no later than its data, and draws once a frame at most.
function follow(columns, head, draw) {
  let pending = 0;
  const later = () => { pending ||= setTimeout(() => { pending = 0; draw(); }, 100); };
  const source = new EventSource(`${base}/events?after=${place.dataset.events}`);
  const take = (e) => { if (merge(columns, e)) later(); };
  source.addEventListener("open", () => say("link", "live"));
  source.addEventListener("error", () => say("link", "the server is away; trying again"));
  source.addEventListener("asked", (m) => take(asked(JSON.parse(m.data), head)));
  source.addEventListener("told", (m) => take(told(JSON.parse(m.data), head)));
  source.addEventListener("end", () => {});
}

function say(what, text) {
  for (const e of document.querySelectorAll(`[data-live=${what}]`)) if (e.textContent !== text) e.textContent = text;
}

start().catch((e) => { say("link", String(e.message ?? e)); });
