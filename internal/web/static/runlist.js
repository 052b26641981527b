import { el } from "./dom.js";
import { count, seconds } from "./format.js";
import { alike, foresee } from "./foresee.js";
import { visible } from "./study.js";

// Runs is the list of running and waiting trials: by the queue of the server, or by the record if
// a terminal runs the study.
export class Runs {
  /** @param {string} name @param {import("./study.js").Study} study */
  constructor(name, study) {
    this.name = name;
    this.study = study;
    this.body = /** @type {HTMLElement} */ (document.querySelector("[data-live=runs]"));
    this.acts = /** @type {HTMLTemplateElement | null} */ (document.getElementById("run-acts"));
    /** @type {any[]} */
    this.queue = [];
    this.total = 0;
    this.shown = "";
    this.asking = 0;
    this.known = false; // whether the queue is known: the list is as the server wrote it until then
    this.at = Date.now(); // when the queue was asked for
    // A request that arrives after the log-out would be refused, and shown as an error on the console.
    this.leave = new AbortController();
    document.querySelector('form[action="/logout"]')?.addEventListener("submit", () => this.leave.abort());
    /** @type {Map<number, {n: number, seen: import("./foresee.js").Seen[]}>} how long trials like one took, when so many had ended */
    this.like = new Map();
  }

  // seen returns how long the trials like one took. Another tenth of them has to have ended before
  // that is looked at anew.
  /** @param {number} trial */
  seen(trial) {
    const k = this.study.row.get(trial), n = this.study.ended.length, old = this.like.get(trial);
    if (old && n <= 1.1 * old.n) return old.seen;
    const seen = k === undefined ? [] : alike(this.study, k);
    if (k !== undefined) this.like.set(trial, { n, seen });
    return seen;
  }

  any() { return this.body.querySelector("[data-since]") !== null; }

  // ask asks for the queue, once for many reasons.
  ask() {
    this.asking ||= setTimeout(async () => {
      this.asking = 0;
      if (this.leave.signal.aborted) return;
      // The log-out may end the answer too, in the middle.
      const q = await fetch(`/api/v1/queue?limit=100&study=${encodeURIComponent(this.name)}`, { signal: this.leave.signal })
        .then((answer) => answer.ok ? answer.json() : null).catch(() => null);
      this.known = true;
      if (q) [this.queue, this.total, this.at] = [q.entries, q.total, Date.now()];
      this.update();
    }, 150);
  }

  // rows returns the shown trials with their places.
  rows() {
    if (this.queue.length) {
      return this.queue.map((e) => ({ trial: e.trial, config: e.config, worker: e.worker ?? "", placed: e.state === "placed",
        since: this.at - 1000 * e.elapsed_s }));
    }
    const s = this.study;
    if (document.querySelector("[data-live=state]")?.textContent?.trim() === "ended") return []; // it was cut off
    const out = [];
    for (let k = 0; k < s.n; k++) {
      if (s.trials.state[k] !== "running") continue;
      out.push({ trial: s.trials.id[k], config: s.config(k), worker: s.trials.worker[k], placed: true, since: s.trials.started_ms[k] });
    }
    return out;
  }

  // update shows the changes; a reason that is being written stays.
  update() {
    if (!this.known) return this.ask();
    const rows = this.rows(), waiting = rows.filter((r) => !r.placed).length + Math.max(0, this.total - this.queue.length);
    const note = document.querySelector("[data-live=waiting]");
    if (note) note.textContent = waiting ? `${count(waiting)} wait` : "";
    const key = JSON.stringify(rows.map((r) => [r.trial, r.worker, r.placed]));
    if (key === this.shown || this.body.contains(document.activeElement)) return;
    this.shown = key;
    if (!rows.length) {
      this.body.replaceChildren(el("tr", {}, el("td", { colSpan: 6, class: "muted" }, "nothing runs")));
      return;
    }
    this.body.replaceChildren(...rows.slice(0, 100).map((r) => {
      const where = r.placed ? el("span", { class: "state running" }, "○ " + (visible(r.worker) || "here")) : el("span", { class: "muted" }, "waits");
      const bar = el("span", {}, el("span", { class: "track" }, el("span", { class: "band" }), el("span", { class: "fill" }), el("span", { class: "tick" })),
        el("span", { class: "ends" }));
      const row = el("tr", { "data-trial": String(r.trial), "data-since": r.placed ? String(r.since) : null },
        el("td", { class: "num" }, String(r.trial)), el("td", {}, where), el("td", { class: "num" }), el("td", {}, r.placed ? bar : ""),
        el("td", { class: "cut", title: visible(r.config) }, visible(r.config)));
      if (this.acts) row.append(this.act(r));
      return row;
    }));
    this.tick();
  }

  /** @param {{trial: number, placed: boolean}} r */
  act(r) {
    const box = el("td", { class: "doing" });
    box.append(/** @type {HTMLTemplateElement} */ (this.acts).content.cloneNode(true));
    for (const f of box.querySelectorAll("form")) {
      /** @type {HTMLInputElement} */ (f.querySelector("[name=trial]")).value = String(r.trial);
      if (f.dataset.do === "first" && r.placed) f.remove();
      const b = f.querySelector("button");
      if (f.dataset.do === "discard" && b) b.textContent = r.placed ? "stop" : "discard";
      f.querySelector("[name=reason]")?.setAttribute("aria-label", `why trial ${r.trial} is discarded`);
    }
    return box;
  }

  // tick has the times grow, beside the time of the best where that is the metric.
  tick() {
    const known = new Set();
    const s = this.study, best = s.metric === "elapsed" && !s.up && s.bestRow >= 0 ? s.trials.value[s.bestRow] : null;
    for (const row of this.body.querySelectorAll("[data-since]")) {
      const ran = Math.max(0, (Date.now() - Number(/** @type {HTMLElement} */ (row).dataset.since)) / 1000);
      row.children[2].textContent = seconds(ran < 10 ? Math.round(10 * ran) / 10 : Math.round(ran));
      const fill = /** @type {HTMLElement | null} */ (row.querySelector(".fill"));
      if (!fill) continue;
      const trial = Number(/** @type {HTMLElement} */ (row).dataset.trial), end = foresee(this.seen(trial), ran);
      known.add(trial);
      ends(row, fill, ran, end, best);
    }
    for (const trial of this.like.keys()) if (!known.has(trial)) this.like.delete(trial);
  }
}

// ends shows the progress of a run: its time so far, the band in which it is expected to end, and
// the end of the best if the study minimizes time.
/** @param {Element} row @param {HTMLElement} fill @param {number} ran @param {ReturnType<typeof foresee>} end @param {Num} best */
function ends(row, fill, ran, end, best) {
  const track = /** @type {HTMLElement} */ (fill.parentElement);
  const band = /** @type {HTMLElement} */ (track.querySelector(".band")), tick = /** @type {HTMLElement} */ (track.querySelector(".tick"));
  const high = end ? end.high ?? 2 * end.mid : 0, whole = Math.max(high, best ? 1.25 * best : 0, ran) || 1;
  const part = (/** @type {number} */ s) => Math.min(100, (100 * s) / whole) + "%";
  fill.style.width = part(ran);
  fill.classList.toggle("over", best !== null && ran > best);
  band.hidden = !end;
  if (end) {
    band.style.left = part(end.low);
    band.style.width = part(high - end.low);
  }
  tick.hidden = best === null;
  if (best !== null) tick.style.left = part(best);
  track.hidden = !end && best === null;
  const left = (/** @type {number} */ s) => seconds(Math.max(0, s - ran) < 10 ? Math.round(10 * Math.max(0, s - ran)) / 10 : Math.round(s - ran));
  const say = (/** @type {string} */ text) => {
    const at = row.querySelector(".ends");
    if (at && at.textContent !== text) at.textContent = text;
  };
  if (end) say(`in ${left(end.mid)} (${left(end.low)} to ${end.high === null ? "?" : left(end.high)})`);
  else say(best !== null && ran > best ? "longer than the best" : "");
  track.title = (end ? `80 % of similar runs that lasted this long ended between ${seconds(end.low)} and ${end.high === null ? "an unknown time" : seconds(end.high)}` : "") +
    (best !== null ? `${end ? "; " : ""}the mark is the best, ${seconds(best)}` : "");
}
