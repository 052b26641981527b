import { metric, number } from "./format.js";
import { state } from "./states.js";

// A Study is what the page knows of one study: its columns, and how they are said.
export class Study {
  constructor(data) {
    Object.assign(this, data);
    this.n = this.trials.id.length;
    this.metric = this.objective.metric;
    this.unit = this.objective.unit ?? "";
    this.up = this.objective.goal === "maximize";
    this.row = new Map(this.trials.id.map((id, k) => [id, k]));
    // ended are the rows in the order in which the trials ended.
    this.ended = this.trials.nth.map((_, k) => k).filter((k) => this.trials.nth[k] > 0)
      .sort((a, b) => this.trials.nth[a] - this.trials.nth[b]);
    this.bestRow = this.best ? this.row.get(this.best) : -1;
    this.paid = this.cumulated();
    this.sofar = this.bestSoFar();
  }

  // cumulated returns for each row the money that all runs had cost when its run ended.
  cumulated() {
    const paid = new Array(this.n).fill(null);
    let sum = 0;
    for (const k of this.ended) {
      sum += this.trials.elapsed[k] ?? 0;
      paid[k] = sum * this.price;
    }
    return paid;
  }

  // better reports whether value a is better than b.
  better(a, b) { return this.up ? a > b : a < b; }

  // bestSoFar returns the rows of the trials that were the best when they ended.
  bestSoFar() {
    const rows = [];
    for (const k of this.ended) {
      if (this.trials.state[k] !== "done") continue;
      const last = rows.at(-1);
      if (last === undefined || this.better(this.trials.value[k], this.trials.value[last])) rows.push(k);
    }
    return rows;
  }

  // at returns where a row stands on an axis: "trials", "time" or "money".
  at(k, axis) {
    if (axis === "time") return this.trials.spent[k];
    if (axis === "money") return this.paid[k];
    return this.trials.nth[k];
  }

  say(x) { return metric(x, this.unit); }

  // value returns the value of a row for people: "> 1.2 s" of a stopped one.
  value(k) {
    const v = this.trials.value[k];
    if (v === null) return "–";
    return (this.trials.state[k] === "censored" ? "> " : "") + this.say(v);
  }

  // coordinate returns the text of a coordinate of the i-th parameter.
  coordinate(i, x) {
    const p = this.params[i];
    if (x === null) return "–";
    return p.levels ? p.levels[x] ?? "?" : number(x, 12);
  }

  param(i, k) { return this.coordinate(i, this.trials.config[i][k]); }

  config(k) { return this.params.map((p, i) => visible(p.name + "=" + this.param(i, k))).join(" "); }

  reason(k) { return this.trials.reasons[this.trials.reason[k]] ?? ""; }

  // about returns what there is to say about a row, in lines.
  about(k) {
    const t = this.trials;
    const lines = [`trial ${t.id[k]}: ${state(t.state[k]).text}`];
    if (t.value[k] !== null) lines.push(`${this.metric} ${this.value(k)}`);
    if (t.predict[k] !== null) lines.push(`expected ${this.say(t.predict[k])}`);
    lines.push(...this.params.slice(0, 12).map((p, i) => `${visible(p.name)}=${visible(this.param(i, k))}`));
    if (this.params.length > 12) lines.push(`and ${this.params.length - 12} more parameters`);
    if (this.reason(k)) lines.push(visible(this.reason(k)).slice(0, 160));
    return lines;
  }
}

// visible shows control characters as escapes, as the command line does.
export function visible(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => {
    const code = c.codePointAt(0);
    return { 9: "\\t", 10: "\\n", 13: "\\r" }[code] ??
      (code < 0x80 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16).padStart(4, "0"));
  });
}

// unitOf returns the unit of a metric that every run has, "" of the others.
export function unitOf(name) {
  return { elapsed: "s", user: "s", system: "s", cpu: "s", max_rss: "B", read_bytes: "B", write_bytes: "B",
    energy: "J", power: "W" }[name] ?? "";
}

