import assert from "node:assert/strict";
import test from "node:test";
import { cells } from "../web/cells.js";
import { within } from "../web/curve.js";
import { metricsOf } from "../web/front.js";
import { pareto } from "../web/pareto.js";
import { medians, ratios, repeated, spread } from "../web/runs.js";
import { ordered } from "../web/slices.js";
import { barsOf, cut, lanesOf } from "../web/timeline.js";
import { study } from "./fixture.js";

test("the front is what no other beats, by trying all", () => {
  let seed = 3;
  const random = (n) => (seed = (seed * 16807) % 2147483647) % n;
  for (let round = 0; round < 200; round++) {
    const points = Array.from({ length: 1 + random(30) }, () => ({ x: random(9), y: random(9) }));
    for (const up of [[false, false], [true, false], [false, true], [true, true]]) {
      const good = (a, b, i) => (up[i] ? a >= b : a <= b);
      const beats = (p, q) => good(p.x, q.x, 0) && good(p.y, q.y, 1) && (p.x !== q.x || p.y !== q.y);
      const want = points.map((_, i) => i).filter((i) => !points.some((p) => beats(p, points[i])));
      assert.deepEqual(pareto(points, up).sort((a, b) => a - b), want, JSON.stringify([points, up]));
    }
  }
  assert.deepEqual(pareto([], [false, false]), []);
});

test("values of a parameter, with their trials and what pruned them", () => {
  const s = study(400);
  for (const [i, p] of s.params.entries()) {
    const all = cells(s, i);
    assert.equal(all.reduce((a, c) => a + c.trials, 0), 400, p.name);
    assert.equal(all.filter((c) => c.top).length, 1, p.name);
    assert.ok(all.length <= 24, p.name);
    for (const [k, c] of all.entries()) if (k > 0 && !p.levels) assert.equal(c.lo, all[k - 1].hi, p.name);
  }
  const gone = (i) => cells(s, i).filter((c) => c.cut).map((c) => c.text);
  assert.deepEqual(gone(0), ["15", "16", "17", "18", "19"]);
  assert.deepEqual(gone(4), ["gzip"]);
  assert.deepEqual(gone(3), []); // it is back
  const level = s.trials.config[0].flatMap((x, k) => (x === 7 && s.trials.state[k] === "done" ? [s.trials.value[k]] : []));
  assert.equal(cells(s, 0)[6].best, Math.min(...level));
});

test("parts of a range of whole numbers are whole", () => {
  const s = study(50);
  s.params[1] = { name: "threads", kind: "int", lo: 1, hi: 64, log: true };
  const all = cells(s, 1);
  assert.deepEqual(all.slice(0, 3).map((c) => c.text), ["1", "2", "3"]);
  assert.equal(all[0].lo, 1);
  assert.equal(all[all.length - 1].hi, 65);
  assert.ok(all.every((c) => Number.isInteger(c.lo) && c.hi > c.lo));
});

test("runs that repeat each other", () => {
  const s = study(60), groups = repeated(s);
  assert.ok(groups.length >= 2);
  assert.ok(groups.every((g) => g.runs.length > 1));
  const first = groups.find((g) => g.runs[0].trial === s.first);
  assert.equal(first.runs.length, 8);
  assert.deepEqual(first.runs.map((r) => r.nth), [1, 2, 3, 4, 5, 6, 7, 8]);
  const byWorker = ratios(groups, (r) => r.worker);
  assert.deepEqual(byWorker.map((g) => g.name), ["rack-1", "rack-2", "rack-10"]);
  const all = ratios(groups, () => "all")[0].runs.map((r) => r.value);
  assert.ok(all.every((x) => x > 0.5 && x < 2));
  assert.equal(ratios(groups, () => "").length, 0);
});

test("the fewest slots that meet a deadline with their whole interval", () => {
  const e = (slots, makespan_s, high_s, cost) => ({ method: "tda", slots, makespan_s, low_s: 0, high_s, cost, efficiency: 1 });
  const plan = { estimates: [e(8, 10, 12, 80), e(2, 30, 33, 60), e(4, 18, 21, 72), e(4, 17, 20, 70)] };
  assert.equal(within(plan, 33).slots, 2);
  assert.equal(within(plan, 32).cost, 70);
  assert.equal(within(plan, 11), null);
});

test("the objective comes first of what can be compared", () => {
  assert.deepEqual(metricsOf(study(5)), ["elapsed", "max_rss", "size"]);
});

test("the medians of configurations that were run again", () => {
  const s = study(60), own = (k) => s.again.flatMap((a) => (s.row.get(a.trial) === k ? [a.value] : []));
  const all = medians(s), first = s.row.get(1);
  assert.equal(all.size, 2);
  assert.equal(all.get(first).runs, 8);
  const sorted = [s.trials.value[first], ...own(first)].sort((a, b) => a - b);
  assert.equal(all.get(first).value, (sorted[3] + sorted[4]) / 2);
  s.answer = { trial: s.best, value: 12.5, runs: 16, keep: false }; // the answer counts more runs
  assert.deepEqual(medians(s).get(s.bestRow), { runs: 16, value: 12.5 });
  const sd = spread(repeated(s));
  assert.ok(sd > 0.01 && sd < 0.1, String(sd));
  assert.equal(spread([]), null);
});

test("a configuration is named by its values that are not those of the best", () => {
  const s = study(60), other = s.bestRow === 0 ? 1 : 0;
  assert.equal(s.differs(s.bestRow), "the best");
  const texts = s.differs(other).split(" ");
  assert.ok(texts.length > 0 && texts.every((text) => s.config(other).includes(text) && !s.config(s.bestRow).split(" ").includes(text)));
});

test("parameters are in the order of their importance", () => {
  const s = study(20), names = () => ordered(s).map((i) => s.params[i].name).join();
  assert.equal(names(), "threads,codec,level,ratio,buffer");
  s.explain = null;
  assert.equal(names(), "level,threads,ratio,buffer,codec");
});

test("a timeline has a lane for each worker, and pauses are cut short", () => {
  const s = study(30), bars = barsOf(s), lanes = lanesOf(bars);
  assert.equal(bars.length, 30 + s.again.length);
  assert.deepEqual(lanes, ["rack-1", "rack-2", "rack-10"]);
  for (const b of bars) assert.equal(lanes[b.lane], b.worker);
  assert.equal(cut(bars).breaks.length, 0);
  const run = (from, to) => ({ from, to, tone: "done", worker: "", k: 0, again: "", lane: 0 });
  const two = [run(1000, 5000), run(2000, 6000), run(900_000, 904_000)];
  assert.deepEqual(lanesOf(two), ["here", "here"]); // two at once
  const c = cut(two);
  assert.equal(c.breaks.length, 1);
  assert.equal(c.place(1000), 0);
  assert.equal(c.place(6000), 5000);
  assert.ok(c.place(900_000) > 5000 && c.place(900_000) < 6000, String(c.place(900_000)));
  assert.equal(c.length, c.place(904_000));
});
