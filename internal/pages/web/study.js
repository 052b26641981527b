import { metric, number, seconds } from "./format.js";
import { levelled, state } from "./states.js";

// The value of a row in each list before anything is known of it. The lists are the server's columns without config
// and metrics, which are lists of lists.
const unknown = {
  state: "running", nth: 0, value: null, elapsed_s: null, spent_s: null, predicted: null, reason: "", started_ms: 0, ended_ms: null,
  worker: "", class: "",
};

// A Study is the page's knowledge of one study: its columns, and their texts. It grows by
// append, while its trials run.
export class Study {
  /** @param {StudyData} data */
  constructor(data) {
    this.data = data;
    this.study = data.study;
    // The levels of a permutation are the orders that trials have had: of all there are too many.
    this.params = data.params.map((p) => (p.kind === "permutation" ? { ...p, levels: [] } : p));
    this.again = data.again ?? [];
    this.cuts = data.cuts ?? [];
    this.explain = data.explain ?? null;
    this.price = data.price ?? 0;
    this.first = data.first ?? 0;
    this.default = data.default ?? false;
    this.spent_s = data.spent_s ?? 0;
    if (data.objective.levels) levelled();
    this.metric = data.objective.metric;
    this.unit = data.objective.unit ?? "";
    this.units = new Map(Object.entries(/** @type {Record<string, string>} */ (data.units ?? {})));
    this.up = data.objective.goal === "maximize";
    this.objectives = data.objectives ?? [data.objective];
    this.several = this.objectives.length > 1;
    this.answer = data.answer ?? null;
    this.front = data.front ?? null;
    this.lost_s = data.lost_s ?? 0;
    this.trials = /** @type {Rows} */ (/** @type {unknown} */ ({ id: [], config: this.params.map(() => []), metrics: {},
      ...Object.fromEntries(Object.keys(unknown).map((name) => [name, []])) }));
    /** @type {[any[], any][]} */
    this.lists = Object.entries(unknown).map(([name, x]) => [/** @type {Record<string, any>} */ (this.trials)[name], x]);
    this.n = 0;
    this.best = 0;
    this.now = data.last ? Date.parse(data.last) : Date.now(); // until when running trials have run, Unix time in ms
    this.version = 0; // of the data: it differs after every change
    /** @type {Map<number, number>} */
    this.row = new Map();
    this.levels = this.params.map((p) => new Map((p.levels ?? []).map((l, i) => [l, i])));
    /** @type {number[]} */
    this.ended = []; // the rows in the order in which the trials ended
    /** @type {number[]} */
    this.sofar = []; // the rows of the trials that were the best when they ended
    /** @type {Num[]} */
    this.paid = []; // for each row the money that all runs had cost when its run ended
    this.sum = 0;
    this.bestRow = -1;
    this.start = Infinity; // of the first trial, Unix time in ms
    this.append(data.trials ?? { id: [], state: [], nth: [], config: {} }, data.best ?? 0);
  }

  // redo derives from the columns the order of the ends, the money paid, and the best so far.
  redo() {
    this.ended = [];
    this.sofar = [];
    this.paid = new Array(this.n).fill(null);
    this.sum = 0;
    const rows = [];
    for (let k = 0; k < this.n; k++) if (this.trials.nth[k] > 0) rows.push(k);
    this.end(rows.sort(this.byEnd));
  }

  byEnd = (/** @type {number} */ a, /** @type {number} */ b) => this.trials.nth[a] - this.trials.nth[b];

  // end takes rows in as those that ended next.
  /** @param {number[]} rows */
  end(rows) {
    const t = this.trials;
    for (const k of rows) {
      this.ended.push(k);
      this.sum += t.elapsed_s[k] ?? 0;
      this.paid[k] = this.sum * this.price;
      const v = t.value[k], last = this.sofar.at(-1);
      if (!this.several && t.state[k] === "done" && v !== null && (last === undefined || this.better(v, t.value[last] ?? v))) this.sofar.push(k);
    }
    this.bestRow = (this.best ? this.row.get(this.best) : this.sofar.at(-1)) ?? -1;
    this.version++;
  }

  // append takes trials in as the server has them (columns): those that are new, and those that have changed. best, if
  // there is one, is the trial that leads by further knowledge.
  /** @param {Columns} c @param {number} [best] */
  append(c, best = 0) {
    const t = this.trials, fresh = [], pairs = this.pairs(c);
    /** @type {[number, unknown[]][]} */
    const values = this.params.flatMap((p, j) => (c.config[p.name] ? [[j, c.config[p.name]]] : []));
    let again = false;
    for (const [i, id] of c.id.entries()) {
      const k = this.row.get(id) ?? this.grow(id), was = t.state[k], before = t.value[k], counted = t.nth[k] > 0;
      for (const [to, from] of pairs) to[k] = from[i];
      for (const [j, list] of values) t.config[j][k] = this.coordinateOf(j, list[i]);
      if (t.started_ms[k] > 0) this.start = Math.min(this.start, t.started_ms[k]);
      if (counted) again ||= was !== t.state[k] || before !== t.value[k];
      else if (t.nth[k] > 0) fresh.push(k);
    }
    this.best = best;
    fresh.sort(this.byEnd);
    const last = this.ended.at(-1);
    if (again || (last !== undefined && fresh.length > 0 && this.byEnd(last, fresh[0]) > 0)) this.redo();
    else this.end(fresh);
  }

  // pairs returns the lists of this study, each with the one of columns that it takes rows from; a list that the
  // columns lack stays.
  /** @param {Columns} c @returns {[any[], any[]][]} */
  pairs(c) {
    const to = /** @type {Record<string, any>} */ (this.trials), from = /** @type {Record<string, any>} */ (c);
    /** @type {[any[], any[]][]} */
    const all = Object.keys(unknown).filter((name) => from[name]).map((name) => [to[name], from[name]]);
    for (const [name, list] of Object.entries(c.metrics ?? {})) {
      all.push([this.trials.metrics[name] ??= new Array(this.n).fill(null), list]);
    }
    return all;
  }

  // grow makes a row of which nothing is known.
  /** @param {number} id */
  grow(id) {
    const t = this.trials, k = this.n++;
    this.row.set(id, k);
    t.id.push(id);
    for (const [list, x] of this.lists) list.push(x);
    for (const list of [...t.config, ...Object.values(t.metrics)]) list.push(null);
    this.paid.push(null);
    return k;
  }

  // coordinateOf returns the coordinate of a value of the i-th parameter.
  /** @param {number} i @param {unknown} v @returns {Num} */
  coordinateOf(i, v) {
    if (v === null || v === undefined) return null;
    const levels = this.params[i].levels;
    if (levels) {
      const text = String(v);
      if (this.params[i].kind === "permutation" && !this.levels[i].has(text)) this.levels[i].set(text, levels.push(text) - 1);
      return this.levels[i].get(text) ?? null;
    }
    return Number.isNaN(Number(v)) ? null : Number(v);
  }

  // better reports whether value a is better than b.
  /** @param {number} a @param {number} b */
  better(a, b) { return this.up ? a > b : a < b; }

  // at returns where a row stands on an axis: "trials", "time" or "money".
  /** @param {number} k @param {string} axis @returns {number} */
  at(k, axis) {
    if (axis === "time") return this.trials.spent_s[k] ?? 0;
    if (axis === "money") return this.paid[k] ?? 0;
    return this.trials.nth[k];
  }

  // ran returns for how long a row has run, in seconds: while it runs, until now.
  /** @param {number} k @returns {Num} */
  ran(k) {
    const t = this.trials;
    if (t.state[k] !== "running") return t.elapsed_s[k];
    return t.started_ms[k] > 0 ? Math.max(0, (this.now - t.started_ms[k]) / 1000) : null;
  }

  /** @param {Num} x */
  say(x) { return metric(x, this.unit); }

  // unitOf returns the unit of a metric, "" if it has none.
  /** @param {string} name */
  unitOf(name) { return name === this.metric ? this.unit : this.units.get(name) ?? ""; }

  // value returns the value of a row for people: "> 1.2 s" of a stopped one.
  /** @param {number} k */
  value(k) {
    const v = this.trials.value[k];
    if (v === null) return "–";
    return (this.trials.state[k] === "censored" ? "> " : "") + this.say(v);
  }

  // coordinate returns the text of a coordinate of the i-th parameter.
  /** @param {number} i @param {Num} x */
  coordinate(i, x) {
    const p = this.params[i];
    if (x === null) return "–";
    return p.levels ? p.levels[x] ?? "?" : number(x, 12);
  }

  /** @param {number} i @param {number} k */
  param(i, k) { return this.coordinate(i, this.trials.config[i][k]); }

  /** @param {number} k */
  config(k) { return this.params.map((p, i) => visible(p.name + "=" + this.param(i, k))).join(" "); }

  // differs returns the values of a row that the best has not.
  /** @param {number} k */
  differs(k) {
    if (k === this.bestRow) return "the best";
    const other = (/** @type {Param} */ _, /** @type {number} */ i) => this.bestRow < 0 || this.param(i, k) !== this.param(i, this.bestRow);
    const texts = this.params.map((p, i) => visible(p.name + "=" + this.param(i, k)));
    return texts.filter((_, i) => other(this.params[i], i)).join(" ") || "the best";
  }

  /** @param {number} k */
  reason(k) { return this.trials.reason[k]; }

  // about returns the description of a row, in lines.
  /** @param {number} k */
  about(k) {
    const t = this.trials;
    const lines = [`trial ${t.id[k]}: ${state(t.state[k]).text}`];
    const ran = this.ran(k);
    if (t.state[k] === "running" && ran !== null) lines[0] = `trial ${t.id[k]}: running for ${seconds(ran)}`;
    if (t.value[k] !== null) lines.push(`${this.metric} ${this.value(k)}`);
    if (t.predicted[k] !== null) lines.push(`expected ${this.say(t.predicted[k])}`);
    lines.push(...this.params.slice(0, 12).map((p, i) => `${visible(p.name)}=${visible(this.param(i, k))}`));
    if (this.params.length > 12) lines.push(`and ${this.params.length - 12} more parameters`);
    if (t.worker[k]) lines.push(`on ${visible(t.worker[k])}`);
    if (this.reason(k)) lines.push(visible(this.reason(k)).slice(0, 160));
    return lines;
  }
}

// visible shows control characters as escapes, as the command line does.
/** @param {string} text */
export function visible(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => {
    const code = c.codePointAt(0) ?? 0;
    const short = "\x07\b\t\n\v\f\r".indexOf(c);
    if (short >= 0) return "\\" + "abtnvfr"[short];
    return code < 0x80 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16).padStart(4, "0");
  });
}

