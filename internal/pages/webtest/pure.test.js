import assert from "node:assert/strict";
import test from "node:test";
import { parseNumber, parseText } from "../web/filter.js";
import { count, metric, money, number, percent, seconds } from "../web/format.js";
import { linear, log, logTicks, padded, timeTicks } from "../web/scale.js";
import { median } from "../web/again.js";
import { keep, recall } from "../web/prefs.js";
import { alike, foresee } from "../web/foresee.js";
import { study } from "./fixture.js";

test("scales and their inverses", () => {
  const s = linear(2, 12, 100, 0);
  assert.deepEqual([2, 7, 12].map(s), [100, 50, 0]);
  assert.equal(s.invert(50), 7);
  assert.equal(linear(3, 3, 0, 10)(3), 5);
  const l = log(1, 100, 0, 200);
  assert.ok(Math.abs(l(10) - 100) < 1e-9 && Math.abs(l.invert(100) - 10) < 1e-9);
});

test("ticks", () => {
  assert.deepEqual(linear(0, 10, 0, 1).ticks(5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(logTicks(1, 1000, 4), [1, 10, 100, 1000]);
  assert.deepEqual(timeTicks(0, 3600, 4), [0, 900, 1800, 2700, 3600]);
  for (let i = 0; i < 500; i++) {
    const lo = Math.exp((i % 37) - 18), hi = lo * (1 + Math.exp((i % 23) - 8));
    for (const ticks of [linear(lo, hi, 0, 1).ticks(6), logTicks(lo, hi, 6)]) {
      assert.ok(ticks.length <= 15 && ticks.every((x, k) => x >= lo * (1 - 1e-9) && x <= hi * (1 + 1e-9) && (k === 0 || x > ticks[k - 1])),
        `${lo} ${hi}: ${ticks}`);
    }
  }
});

test("a range has a margin, and is never empty", () => {
  assert.deepEqual(padded([], true), [1, 10]);
  assert.deepEqual(padded([null, 0, 100], false), [0, 105]);
  const [lo, hi] = padded([5], false);
  assert.ok(lo < 5 && hi > 5);
});

test("numbers for people", () => {
  assert.deepEqual([0, 1234.5678, -2, 1e-7, null].map((x) => number(x)), ["0", "1235", "−2", "1e−7", "n/a"]);
  assert.deepEqual([0.0125, 59.96, 3599.9, 90061].map(seconds), ["12.5 ms", "1 min", "1 h", "1 d 1 h"]);
  assert.equal(metric(2_500_000, "B"), "2.5 MB");
  assert.equal(metric(null, "B"), "–");
  assert.equal(percent(0.125), "+12.5 %");
  assert.equal(count(1234567), "1 234 567");
  assert.deepEqual([12.345, 0.00123, null].map(money), ["12.35", "0.0012", "–"]);
});

test("conditions", () => {
  const meant = (text) => [1, 2, 3, 4, 5, null].filter(parseNumber(text));
  assert.deepEqual(meant("2..4"), [2, 3, 4]);
  assert.deepEqual(meant("!3"), [1, 2, 4, 5]);
  assert.deepEqual(meant(">= 4, 1"), [1, 4, 5]);
  assert.deepEqual(meant("≤2"), [1, 2]);
  for (const bad of ["", "x", "..x", "> ", ","]) assert.equal(parseNumber(bad), null, bad);
  assert.deepEqual(["zstd", "gzip", "Zstd-2"].filter(parseText("=zstd, gz")), ["zstd", "gzip"]);
  assert.equal(parseText(" , "), null);
});

test("medians", () => {
  assert.deepEqual([[], [3], [1, 9, 2], [4, 1, 3, 2]].map(median), [null, 3, 2, 2.5]);
});

test("what a reader chose is kept where there is a place, and what somebody else wrote is not trusted", () => {
  assert.deepEqual(recall("view", { part: 1 }), { part: 1 });
  keep("view", { part: 5 });
  assert.deepEqual(recall("view", { part: 1 }), { part: 5 }); // without a place: in this page
  const place = new Map();
  globalThis.localStorage = { getItem: (k) => place.get(k) ?? null, setItem: (k, v) => place.set(k, v) };
  keep("view", { part: 7 });
  assert.equal(place.get("assay.view"), '{"part":7}');
  for (const other of ["[]", "null", "3", "{"]) {
    place.set("assay.other", other);
    assert.deepEqual(recall("other", { part: 1 }), { part: 1 });
  }
  delete globalThis.localStorage;
});

test("when a run ends, by those that took longer", () => {
  const of = (times, cut = []) => [...times.map((time) => ({ time, ended: true })), ...cut.map((time) => ({ time, ended: false }))].sort((a, b) => a.time - b.time);
  const ten = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  assert.deepEqual(foresee(of(ten), 0), { low: 1, mid: 5, high: 9 });
  // Trials that ended sooner do not count for a run that goes on.
  assert.deepEqual(foresee(of([...ten.map((x) => x / 100), ...ten]), 0.5), { low: 1, mid: 5, high: 9 });
  assert.equal(foresee(of(ten), 5.5)?.mid, 8);
  assert.equal(foresee(of(ten), 6), null, "four are too few");
  // Who was cut off would have taken longer: the middle is later, and the end may not be known.
  assert.ok((foresee(of(ten, [1, 1, 2, 2, 3]), 0)?.mid ?? 0) > 5);
  assert.equal(foresee(of([1, 2, 3, 4, 5, 6], [7, 7, 7]), 0)?.high, null);
  assert.equal(foresee(of([1, 2, 3, 4, 5], new Array(9).fill(6)), 0), null, "most were cut off");
});

test("runs are expected to be like trials that are alike", () => {
  const s = study(200), slow = [];
  for (let k = 0; k < 200; k++) if (s.trials.config[0][k] > 10) slow.push(k);
  for (const k of slow) s.trials.elapsed_s[k] = 1000;
  const time = (level) => {
    s.append({ id: [900 + level], state: ["running"], config: Object.fromEntries(s.params.map((p, i) =>
      [p.name, [i === 0 ? level : s.coordinate(i, s.trials.config[i][3])]])) });
    return foresee(alike(s, s.row.get(900 + level)), 0).mid;
  };
  assert.ok(time(19) >= 1000 && time(2) < 1000, `${time(19)} ${time(2)}`);
});
