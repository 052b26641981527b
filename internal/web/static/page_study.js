import "./copy.js";
import { contour } from "./contour.js";
import { copyable, el } from "./dom.js";
import { Selection } from "./filter.js";
import { count, money, number, seconds } from "./format.js";
import { front } from "./front.js";
import { history } from "./history.js";
import { importance } from "./importance.js";
import { noise } from "./noise.js";
import { parallel } from "./parallel.js";
import { reports } from "./reports.js";
import { Runs } from "./runlist.js";
import { slices } from "./slices.js";
import { space } from "./space.js";
import { spent } from "./spent.js";
import { state } from "./states.js";
import { Study, visible } from "./study.js";
import { table } from "./table.js";
import { timeline } from "./timeline.js";

// The page of a study. The server has written the facts in words; this module draws them, and adds
// the rows that arrive. The chart first in sight is drawn first, each other one when it is near.

const head = JSON.parse(document.getElementById("data")?.textContent ?? "");
const base = "/api/v1/studies/" + encodeURIComponent(head.study);

/** @param {string} path */
async function get(path) {
  const answer = await fetch(base + path, { headers: { Accept: "application/json" } });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail ?? answer.statusText);
  return body;
}

/** @param {string} what @returns {HTMLElement | null} */
const live = (what) => document.querySelector(`[data-live=${what}]`);

/** @param {string} what @param {string} text */
function say(what, text) {
  const e = live(what);
  if (e && e.textContent !== text) e.textContent = text;
}

/** @param {string} name @returns {HTMLElement} */
const place = (name) => /** @type {HTMLElement} */ (document.querySelector(`[data-draw=${name}]`));

class Page {
  constructor() {
    this.study = new Study({ ...head, again: [], cuts: [], best: 0, last: new Date().toISOString() });
    this.selection = new Selection(this.study);
    /** @type {Map<string, Chart>} charts that are drawn */
    this.charts = new Map();
    this.first = head.objectives ? "front" : "history"; // the chart that is drawn first
    this.near = new Set([this.first]); // places that are in sight, or close to it
    this.stale = new Set(); // charts that are behind the study
    this.cost = 0; // ms of the last update
    this.pending = 0;
    this.events = head.events;
    this.runs = new Runs(head.study, this.study);
    this.heard = Date.now(); // when the last rows came
    this.looked = 0; // when a row had the state be asked for
    this.worked = Date.now(); // when the answer was asked for
    this.answered = -1; // events that the answer knows of
    /** @type {{trial: number, value: number, runs: number, keep: boolean} | null} */
    this.recommended = null; // as the answer has it
  }

  async start() {
    for (let after = 0; ;) {
      const page = await get(`/trials?format=columns&limit=100000${after ? "&after=" + after : ""}`);
      this.study.append(page.columns);
      if (!(after = page.next)) break;
    }
    this.draw(this.first);
    this.facts();
    this.follow();
    await new Promise((ok) => requestAnimationFrame(() => setTimeout(ok)));
    performance.mark("drawn");
    document.documentElement.dataset.drawn = "true";
    this.watch();
    setInterval(() => this.tick(), 1000);
    get("/answer").then((a) => this.answer(a), (e) => say("words", "The answer is not available: " + e.message));
  }

  // draw makes a chart, in place of the page's content for readers without script.
  /** @param {string} name */
  draw(name) {
    const at = place(name), s = this.study;
    if (!at || this.charts.has(name)) return;
    if (name === "importance") return void this.explain(at);
    at.replaceChildren();
    const make = {
      history: () => history(at, [s], this.selection, 250), slices: () => slices(at, s), contour: () => contour(at, s),
      timeline: () => timeline(at, s), reports: () => reports(at, s, () => reported(s.n)), parallel: () => parallel(at, s, this.selection),
      spent: () => spent(at, s), space: () => space(at, s), noise: () => noise(at, s), front: () => front(at, s, this.selection, s.several ? 250 : 340),
      table: () => table(at, s, this.selection, document.body.dataset.trials === undefined ? {} : {
        href: (id) => `/s/${encodeURIComponent(head.study)}/t/${id}` }),
    }[name];
    if (make) this.charts.set(name, make());
  }

  // watch draws the charts that come near to the window, and notes the ones out of it.
  watch() {
    const names = new Map();
    const seen = new IntersectionObserver((entries) => {
      for (const e of entries) {
        const name = names.get(e.target);
        if (!e.isIntersecting) {
          this.near.delete(name);
          continue;
        }
        this.near.add(name);
        this.draw(name);
        if (this.stale.has(name)) this.later();
      }
    }, { rootMargin: "300px" });
    for (const at of document.querySelectorAll("[data-draw]")) {
      names.set(at, /** @type {HTMLElement} */ (at).dataset.draw);
      seen.observe(at);
    }
  }

  // explain asks for a model of the trials, which takes a while.
  /** @param {HTMLElement} at */
  explain(at) {
    const said = el("p", { class: "note", role: "status" }, "Fitting a model of the trials …");
    const chart = { update() {} };
    this.charts.set("importance", chart);
    at.replaceChildren(said);
    get("/explain?curves=true").then((e) => {
      this.study.explain = e;
      const of = e.of > e.trials ? ` of ${count(e.of)}` : "";
      said.textContent = `A random forest of ${count(e.trials)}${of} trials predicts ${number(100 * Math.max(0, e.explained), 2)} % of the ` +
        `differences between unseen trials${e.explained < 0.3 ? ", too little to rely on these numbers" : ""}.`;
      Object.assign(chart, importance(at, this.study));
      if (head.state !== "ended") at.append(el("button", { type: "button", onclick: () => { at.replaceChildren(); this.explain(at); } }, "again, with all trials so far"));
      for (const name of ["slices", "contour"]) this.stale.add(name);
      this.later();
    }, (err) => { said.textContent = "No model yet: " + err.message; });
  }

  // answer shows the study's result, with the runs at the end.
  /** @param {any} a */
  answer(a) {
    const s = this.study;
    Object.assign(s, { again: a.again ?? [], cuts: a.cuts ?? [], first: a.first ?? 0, answer: a.answer ?? null, front: a.front ?? null, lost_s: a.lost_s ?? 0 });
    s.append({ id: [], state: [], config: {} }, a.best ?? 0);
    this.recommended = a.answer ?? null;
    this.answered = this.events;
    this.worked = Date.now();
    say("saved", seconds(a.saved_s ?? 0));
    say("between", seconds(a.between_s ?? 0));
    if (s.price) say("kept", money((a.saved_s ?? 0) * s.price));
    live("limits")?.replaceChildren(...(a.answer?.limits ?? []).map((/** @type {any} */ l) => el("li", {}, `within the limit: ${visible(l.text)}`)));
    const commands = live("commands"), now = a.words.filter((/** @type {any} */ w) => w.command);
    if (commands?.dataset.are !== JSON.stringify(now)) {
      commands?.replaceChildren(...now.flatMap((/** @type {any} */ w) => [
        el("h3", {}, w.label === "keep" ? "The command to keep" : "The command"), el("pre", { "data-copy": "" }, visible(w.text))]));
      for (const pre of commands?.querySelectorAll("pre") ?? []) copyable(pre);
      if (commands) commands.dataset.are = JSON.stringify(now);
    }
    live("words")?.replaceChildren(
      el("details", {}, el("summary", {}, "As the command line prints it"),
        el("dl", {}, ...a.words.flatMap((/** @type {any} */ w) => [el("dt", {}, visible(w.label)), el("dd", {}, ...lines(w.text))]))));
    for (const name of ["history", "space", "noise", "front", "timeline", "reports", "parallel", "slices"]) this.stale.add(name);
    this.later();
  }

  // facts writes the changes in words.
  facts() {
    const s = this.study, t = s.trials;
    /** @type {Record<string, number>} */
    const n = {};
    for (let k = 0; k < s.n; k++) {
      n[t.state[k]] = (n[t.state[k]] ?? 0) + 1;
      s.spent_s = Math.max(s.spent_s, t.spent_s[k] ?? 0);
    }
    const ended = live("state")?.textContent?.trim() === "ended";
    say("counts", `${count(n.done ?? 0)} done, ${count(n.censored ?? 0)} stopped, ${count(n.failed ?? 0)} failed` +
      (n.infeasible ? `, ${count(n.infeasible)} ${state("infeasible").text}` : "") +
      (n.running ? `, ${count(n.running)} ${ended ? "unfinished" : "running"}` : ""));
    if ((n.done ?? 0) + (n.censored ?? 0) + (n.infeasible ?? 0) > 0) this.works();
    if ((n.done ?? 0) + (n.censored ?? 0) + (n.infeasible ?? 0) > 1) document.querySelector(".cards")?.classList.remove("bare");
    if (n.running && !ended) live("running")?.removeAttribute("hidden");
    const r = this.recommended, row = r ? s.row.get(r.trial) : undefined;
    if (r && row !== undefined) { // the server's text stands until there is an answer
      say("best", s.say(r.value));
      const single = s.sofar.at(-1);
      say("best-what", (r.keep ? "keep this: " : "") + (r.runs > 1 ? `median of ${r.runs} runs of ` : "") + `trial ${r.trial}` +
        (r.runs > 1 && single !== undefined ? `, best single run ${s.value(single)}` : ""));
      live("config")?.replaceChildren(...s.params.flatMap((p, i) => [
        el("dt", {}, visible(p.name)), el("dd", {}, visible(s.param(i, row)))]));
    }
    if (s.spent_s > 0) {
      say("spent", seconds(s.spent_s));
      if (s.price) say("paid", money(s.spent_s * s.price));
    }
    this.runs.update();
  }

  // works shows the answer of a study of which the first trial has worked.
  works() {
    document.getElementById("failed")?.remove();
    document.getElementById("answer")?.removeAttribute("hidden");
  }

  // later brings the page up to date before long: the more that costs, the later.
  later() {
    this.pending ||= setTimeout(() => {
      this.pending = 0;
      const began = performance.now();
      this.study.now = Date.now();
      this.facts();
      for (const name of [...this.stale]) {
        if (!this.near.has(name)) continue;
        this.stale.delete(name);
        this.charts.get(name)?.update();
      }
      this.cost = performance.now() - began;
    }, Math.min(2000, 60 + 4 * this.cost));
  }

  changed() {
    for (const name of this.charts.keys()) this.stale.add(name);
    this.later();
  }

  // tick lets running trials grow.
  tick() {
    for (const e of document.querySelectorAll("time[data-ago]")) {
      const s = (Date.now() - Date.parse(/** @type {HTMLTimeElement} */ (e).dateTime)) / 1000;
      if (s < 3600) e.textContent = s < 2 ? "now" : seconds(Math.floor(s)) + " ago";
    }
    // The page asks every now and then anew for the results of all trials.
    if (this.events > this.answered && Date.now() - this.worked > 15000 + 0.3 * this.study.n && !document.hidden) {
      this.worked = Date.now();
      this.reask();
    }
    // A kill of the program that ran a study is no event.
    if (live("state")?.textContent === "running" && Date.now() - this.heard > 4000) {
      this.heard = Date.now();
      this.look();
    }
    if (!this.runs.any()) return;
    this.study.now = Date.now();
    this.runs.tick();
    if (this.near.has("history") && document.visibilityState === "visible") this.charts.get("history")?.update();
  }

  // follow takes in the rows that change behind the events that the page was made of, which are no later than its
  // trials. The browser reconnects by itself, and sends the last event that it had.
  follow() {
    const source = new EventSource(`${base}/events?rows=true&after=${head.events}`);
    let gone = 0;
    /** @type {Columns[]} */
    let batch = [];
    const take = () => {
      for (const c of batch) this.study.append(c);
      batch = [];
      this.changed();
    };
    source.addEventListener("rows", (m) => {
      const u = /** @type {Update} */ (JSON.parse(/** @type {MessageEvent} */ (m).data));
      this.events = u.events;
      this.study.spent_s = Math.max(this.study.spent_s, u.spent_s);
      const at = document.querySelector("time[data-ago]");
      if (at) /** @type {HTMLTimeElement} */ (at).dateTime = u.at;
      if (u.answer) this.reask();
      this.heard = Date.now();
      if (live("state")?.textContent === "idle" && !u.ended && Date.now() - this.looked > 1000) {
        this.looked = Date.now();
        this.look();
      }
      if (u.queue) this.runs.ask();
      if (!u.trials) return;
      batch.push(u.trials);
      if (batch.length === 1) setTimeout(take);
    });
    source.addEventListener("lacks", (m) => say("lacks", JSON.parse(/** @type {MessageEvent} */ (m).data)));
    source.addEventListener("end", () => {});
    source.addEventListener("open", () => {
      say("link", "live");
      live("link")?.classList.remove("away");
      if (gone) this.reask();
      gone = 0;
    });
    source.addEventListener("error", () => {
      gone++;
      say("link", source.readyState === EventSource.CLOSED ? "not live: load the page again" : "the server is away: trying again");
      live("link")?.classList.add("away");
      if (source.readyState === EventSource.CLOSED) setTimeout(() => { if (this.events >= 0) this.again(); }, 2000);
    });
    this.source = source;
  }

  // again follows anew where the browser has given up, as it does when the answer was a refusal.
  again() {
    this.source?.close();
    head.events = this.events;
    this.follow();
  }

  // look asks for the state of the study.
  async look() {
    if (document.hidden) return;
    const d = await get("?brief=true").catch(() => null), dot = live("state")?.firstElementChild;
    const running = live("running");
    if (d && running) running.hidden = d.study.state !== "running" && d.study.state !== "paused" && !this.runs.any();
    if (d && dot && dot.textContent !== d.study.state) dot.replaceWith(el("span", { class: "dot state-" + d.study.state }, d.study.state));
  }

  // reask asks for the state and the answer anew, once for many reasons.
  reask() {
    if (this.asking) return;
    this.asking = setTimeout(async () => {
      try {
        const [, a] = await Promise.all([this.look(), get("/answer")]);
        this.answer(a);
      } catch {} // the next reason asks again
      this.asking = 0;
    }, 300);
  }
}

// reported returns the reports of the last trials that have some.
/** @param {number} last */
async function reported(last) {
  const page = await get(`/trials?after=${Math.max(0, last - 200)}&limit=200`);
  return (page.rows ?? []).flatMap((/** @type {any} */ t) => (t.curve?.step?.length ? [{ trial: t.id, ...t.curve }] : []));
}

// lines returns a text of several lines as nodes.
/** @param {string} text @returns {Node[]} */
function lines(text) {
  return text.split("\n").flatMap((t, i) => [...(i ? [el("br", {})] : []), document.createTextNode(visible(t))]);
}

new Page().start().catch((e) => { say("link", "not drawn: " + (e.message ?? e)); });
