import { metric, number, seconds } from "./format.js";
import { levelled, state } from "./states.js";

// A Study is what the page knows of one study: its columns, and how they are said. It grows by
// append, while its trials run.
export class Study {
  /** @param {StudyData} data */
  constructor(data) {
    this.data = data;
    this.study = data.study;
    // The levels of a permutation are the orders that trials have had: of all there are too many.
    this.params = data.params.map((p) => (p.kind === "permutation" && !data.trials ? { ...p, levels: [] } : p));
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
    this.up = data.objective.goal === "maximize";
    this.objectives = data.objectives ?? [data.objective];
    this.trials = filled(data.trials, this.params.length);
    this.n = this.trials.id.length;
    this.given = this.n; // rows whose nth the record says; that of later ones follows from when they ended
    this.best = data.best ?? 0;
    this.now = data.last ? Date.parse(data.last) : Date.now(); // until when running trials have run, Unix time in ms
    this.version = 0; // of the data: it differs after every change
    /** @type {Map<number, number>} */
    this.row = new Map(this.trials.id.map((id, k) => [id, k]));
    this.levels = this.params.map((p) => new Map((p.levels ?? []).map((l, i) => [l, i])));
    this.reasons = new Map(this.trials.reasons.map((r, i) => [r, i]));
    /** @type {number[]} */
    this.ended = []; // the rows in the order in which the trials ended
    /** @type {number[]} */
    this.sofar = []; // the rows of the trials that were the best when they ended
    /** @type {Num[]} */
    this.paid = []; // for each row the money that all runs had cost when its run ended
    this.sum = 0;
    this.bestRow = -1;
    this.start = Infinity; // of the first trial, Unix time in ms
    this.redo();
  }

  // redo works out what follows from the columns: the order of the ends, what was paid, and the
  // best so far.
  redo() {
    const t = this.trials;
    this.ended = [];
    this.sofar = [];
    this.paid = new Array(this.n).fill(null);
    this.sum = 0;
    for (const s of t.started) if (s > 0 && s < this.start) this.start = s;
    const known = [], later = [];
    for (let k = 0; k < this.n; k++) {
      if (k < this.given && t.nth[k] > 0) known.push(k);
      else if (final(t.state[k])) later.push(k);
    }
    known.sort((a, b) => t.nth[a] - t.nth[b]);
    this.end([...known, ...later.sort(this.byEnd)]);
  }

  byEnd = (/** @type {number} */ a, /** @type {number} */ b) =>
    (this.trials.ended[a] ?? 0) - (this.trials.ended[b] ?? 0) || this.trials.id[a] - this.trials.id[b];

  // end takes rows in as those that ended next.
  /** @param {number[]} rows */
  end(rows) {
    const t = this.trials;
    for (const k of rows) {
      this.ended.push(k);
      if (k >= this.given || t.nth[k] === 0) t.nth[k] = this.ended.length;
      t.spent[k] ??= this.spentAt(t.ended[k]);
      this.sum += t.elapsed[k] ?? 0;
      this.paid[k] = this.sum * this.price;
      const v = t.value[k], last = this.sofar.at(-1);
      if (t.state[k] === "done" && v !== null && (last === undefined || this.better(v, t.value[last] ?? v))) this.sofar.push(k);
    }
    this.bestRow = (this.best ? this.row.get(this.best) : this.sofar.at(-1)) ?? -1;
    this.version++;
  }

  // spentAt returns the time since the first trial started, for who does not say what was spent of
  // the budget.
  /** @param {Num} at */
  spentAt(at) {
    if (at === null) return null;
    return this.start < at ? (at - this.start) / 1000 : 0;
  }

  // append takes trials in as the server's interface has them (columns): those that are new, and
  // those that have changed. best, if there is one, is the trial that leads by what else is known.
  /** @param {Columns} c @param {number} [best] */
  append(c, best = 0) {
    const t = this.trials, fresh = [];
    let again = false;
    for (const [i, id] of c.id.entries()) {
      let k = this.row.get(id);
      if (k === undefined) k = this.grow(id);
      const was = t.state[k], before = t.value[k];
      this.put(k, c, i);
      const counted = final(was) && (t.nth[k] > 0);
      if (counted) again ||= was !== t.state[k] || before !== t.value[k];
      else if (final(t.state[k])) fresh.push(k);
    }
    this.best = best;
    fresh.sort(this.byEnd);
    const last = this.ended.at(-1), first = fresh[0];
    if (again || (last !== undefined && first !== undefined && last >= this.given && this.byEnd(last, first) > 0)) this.redo();
    else this.end(fresh);
  }

  // grow makes a row of which nothing is known.
  /** @param {number} id */
  grow(id) {
    const t = this.trials, k = this.n++;
    this.row.set(id, k);
    t.id.push(id);
    t.state.push("running");
    t.nth.push(0);
    t.reason.push(this.why(""));
    t.started.push(0);
    for (const list of [t.value, t.spent, t.elapsed, t.predict, t.ended, ...t.config, ...Object.values(t.metrics)]) list.push(null);
    t.worker.push("");
    t.class.push("");
    this.paid.push(null);
    return k;
  }

  // put writes the i-th of columns into a row; what the columns do not have stays.
  /** @param {number} k @param {Columns} c @param {number} i */
  put(k, c, i) {
    const t = this.trials;
    t.state[k] = c.state[i];
    for (const [j, p] of this.params.entries()) {
      if (c.config[p.name]) t.config[j][k] = this.coordinateOf(j, c.config[p.name][i]);
    }
    if (c.value) t.value[k] = c.value[i];
    if (c.elapsed_s) t.elapsed[k] = c.elapsed_s[i];
    if (c.started_ms) t.started[k] = Math.max(0, c.started_ms[i]);
    if (t.started[k] > 0) this.start = Math.min(this.start, t.started[k]);
    if (c.ended_ms) t.ended[k] = c.ended_ms[i];
    if (c.spent_s) t.spent[k] = c.spent_s[i];
    if (c.predicted) t.predict[k] = c.predicted[i];
    if (c.reason) t.reason[k] = this.why(c.reason[i]);
    if (c.worker) t.worker[k] = c.worker[i];
    if (c.class) t.class[k] = c.class[i];
    for (const [name, list] of Object.entries(c.metrics ?? {})) {
      t.metrics[name] ??= new Array(this.n).fill(null);
      t.metrics[name][k] = list[i];
    }
  }

  /** @param {string} text */
  why(text) {
    let i = this.reasons.get(text);
    if (i === undefined) {
      i = this.trials.reasons.push(text) - 1;
      this.reasons.set(text, i);
    }
    return i;
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
    if (axis === "time") return this.trials.spent[k] ?? 0;
    if (axis === "money") return this.paid[k] ?? 0;
    return this.trials.nth[k];
  }

  // ran returns for how long a row has run, in seconds: while it runs, until now.
  /** @param {number} k @returns {Num} */
  ran(k) {
    const t = this.trials;
    if (t.state[k] !== "running") return t.elapsed[k];
    return t.started[k] > 0 ? Math.max(0, (this.now - t.started[k]) / 1000) : null;
  }

  /** @param {Num} x */
  say(x) { return metric(x, this.unit); }

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

  /** @param {number} k */
  reason(k) { return this.trials.reasons[this.trials.reason[k]] ?? ""; }

  // about returns what there is to say about a row, in lines.
  /** @param {number} k */
  about(k) {
    const t = this.trials;
    const lines = [`trial ${t.id[k]}: ${state(t.state[k]).text}`];
    const ran = this.ran(k);
    if (t.state[k] === "running" && ran !== null) lines[0] += ` for ${seconds(ran)}`;
    if (t.value[k] !== null) lines.push(`${this.metric} ${this.value(k)}`);
    if (t.predict[k] !== null) lines.push(`expected ${this.say(t.predict[k])}`);
    lines.push(...this.params.slice(0, 12).map((p, i) => `${visible(p.name)}=${visible(this.param(i, k))}`));
    if (this.params.length > 12) lines.push(`and ${this.params.length - 12} more parameters`);
    if (t.worker[k]) lines.push(`on ${visible(t.worker[k])}`);
    if (this.reason(k)) lines.push(visible(this.reason(k)).slice(0, 160));
    return lines;
  }
}

/** @param {string} name of a state */
const final = (name) => name === "done" || name === "censored" || name === "failed" || name === "infeasible";

// filled returns columns with all lists, of which the record says some.
/** @param {Partial<Rows> | undefined} t @param {number} params @returns {Required<Rows>} */
function filled(t, params) {
  const n = t?.id?.length ?? 0;
  const none = () => /** @type {Num[]} */ (new Array(n).fill(null));
  return {
    id: [], state: [], nth: [], value: none(), config: Array.from({ length: params }, none), spent: none(), elapsed: none(),
    predict: none(), metrics: {}, reason: [], reasons: [], started: new Array(n).fill(0), ended: none(),
    worker: new Array(n).fill(""), class: new Array(n).fill(""), ...t,
  };
}

// textOf returns the value that a coordinate of the record stands for: of a permutation, whose
// coordinate numbers the orders of its levels lexically, the order.
/** @param {Param} p @param {number} x @returns {string | number} */
export function textOf(p, x) {
  if (!p.levels) return x;
  if (p.kind !== "permutation") return p.levels[x];
  const left = [...p.levels], order = [];
  for (let f = left.reduce((a, _, i) => a * (i + 1), 1), rank = x; left.length > 0;) {
    f /= left.length;
    order.push(...left.splice(Math.floor(rank / f), 1));
    rank %= f;
  }
  return order.join(",");
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

/** @type {Record<string, string>} */
const units = { elapsed: "s", user: "s", system: "s", cpu: "s", max_rss: "B", read_bytes: "B", write_bytes: "B", energy: "J", power: "W" };

// unitOf returns the unit of a metric that every run has, "" of the others.
/** @param {string} name */
export function unitOf(name) { return Object.hasOwn(units, name) ? units[name] : ""; }
