import assert from "node:assert/strict";
import test from "node:test";
import { Selection } from "../web/filter.js";
import { Study, visible } from "../web/study.js";
import { columns, sorted } from "../web/table.js";

const head = () => ({
  study: "s", objective: { metric: "elapsed", goal: "minimize", unit: "s" }, price: 2,
  params: [{ name: "n", kind: "int", lo: 1, hi: 9 }, { name: "codec", kind: "categorical", lo: 0, hi: 1, levels: ["gzip", "zstd"] },
    { name: "on", kind: "bool", lo: 0, hi: 1, levels: ["false", "true"] }],
});

// page makes columns as the server has them, of [id, state, value, started, ended, nth]; without nth the trials ended in
// the order of their ids.
const page = (...rows) => ({
  id: rows.map((r) => r[0]), state: rows.map((r) => r[1]), value: rows.map((r) => r[2]),
  nth: rows.map((r) => (r[4] === null ? 0 : r[5] ?? r[0])), spent_s: rows.map((r) => (r[4] === null ? null : r[4] - 100)),
  started_ms: rows.map((r) => 1000 * r[3]), ended_ms: rows.map((r) => (r[4] === null ? null : 1000 * r[4])),
  elapsed_s: rows.map((r) => (r[4] === null ? 0 : r[4] - r[3])), reason: rows.map((r) => (r[1] === "failed" ? "exit status 1" : "")),
  config: { n: rows.map((r) => r[0]), codec: rows.map((r) => ["gzip", "zstd"][r[0] % 2]), on: rows.map((r) => r[0] > 2) },
});

test("a study grows, and what follows from its trials with it", () => {
  const s = new Study(head());
  assert.equal(s.bestRow, -1);
  s.append(page([1, "done", 5, 100, 105], [2, "running", null, 101, null]));
  assert.deepEqual(s.ended, [0]);
  s.now = 104_000;
  assert.equal(s.ran(1), 3);
  assert.equal(s.ran(0), 5);
  const version = s.version;
  s.append(page([2, "done", 3, 101, 107], [3, "failed", null, 106, 108], [4, "running", null, 108, null]));
  assert.ok(s.version > version);
  assert.deepEqual(s.trials.id, [1, 2, 3, 4]);
  assert.deepEqual(s.trials.nth, [1, 2, 3, 0]);
  assert.deepEqual(s.sofar, [0, 1]);
  assert.equal(s.bestRow, 1);
  assert.deepEqual(s.paid.slice(0, 3), [10, 22, 26]);
  assert.deepEqual(s.trials.spent_s, [5, 7, 8, null]);
  assert.equal(s.reason(2), "exit status 1");
  assert.equal(s.reason(1), "");
  assert.equal(s.config(0), "n=1 codec=zstd on=false");
  assert.equal(s.param(2, 3), "true");
  assert.match(s.about(3)[0], /^trial 4: running for 0 s$/);
});

test("trials that arrive in the order of their ids are in the order of their ends", () => {
  const s = new Study(head());
  s.append(page([1, "done", 5, 0.1, 50, 3], [2, "done", 4, 0.1, 10, 1]));
  assert.deepEqual(s.ended, [1, 0]);
  s.append(page([3, "done", 1, 0.1, 20, 2]));
  assert.deepEqual(s.ended, [1, 2, 0]);
  assert.deepEqual(s.trials.nth, [3, 1, 2]);
  assert.deepEqual(s.sofar, [1, 2]);
});

test("one page after the other is the same as all at once", () => {
  const rows = [];
  let x = 7;
  for (let i = 1; i <= 400; i++) {
    x = (x * 16807) % 2147483647;
    rows.push([i, ["done", "done", "failed", "censored"][x % 4], x % 4 === 2 ? null : 1 + (x % 97), i, i + (x % 13)]);
  }
  for (const [nth, r] of [...rows].sort((a, b) => a[4] - b[4] || a[0] - b[0]).entries()) r.push(nth + 1);
  const all = new Study(head()), one = new Study(head()), live = new Study(head());
  all.append(page(...rows));
  for (let i = 0; i < rows.length; i += 30) one.append(page(...rows.slice(i, i + 30)));
  // As rows come: one that runs, and the same when it has ended.
  const changes = rows.flatMap((r) => [[r[3], [r[0], "running", null, r[3], null]], [r[4] + 0.5, r]]).sort((a, b) => a[0] - b[0]);
  for (const [, row] of changes) live.append(page(row));
  for (const s of [one, live]) {
    assert.deepEqual(s.trials.id.length, 400);
    assert.deepEqual(s.ended.map((k) => s.trials.id[k]), all.ended.map((k) => all.trials.id[k]));
    assert.deepEqual(s.sofar.map((k) => s.trials.id[k]), all.sofar.map((k) => all.trials.id[k]));
    assert.ok(Math.abs(s.sum - all.sum) < 1e-6);
  }
});

test("what the record says is kept when a study grows", () => {
  const s = new Study({ ...head(), best: 1, trials: {
    id: [1, 2], state: ["done", "running"], nth: [1, 0], value: [4, null], config: { n: [3, 4], codec: ["gzip", "zstd"], on: [true, false] },
    spent_s: [17, null], elapsed_s: [4, 0], metrics: { size: [9, null] }, started_ms: [1000, 6000] } });
  assert.equal(s.bestRow, 0);
  s.append({ ...page([2, "done", 2, 6, 8]), spent_s: [21], metrics: { size: [7], other: [1] } });
  assert.deepEqual(s.trials.nth, [1, 2]);
  assert.deepEqual(s.trials.spent_s, [17, 21]);
  assert.deepEqual(s.trials.metrics, { size: [9, 7], other: [null, 1] });
  assert.equal(s.bestRow, 1);
});

test("a goal to maximise", () => {
  const s = new Study({ ...head(), objective: { metric: "score", goal: "maximize" } });
  s.append(page([1, "done", 5, 0, 1], [2, "done", 4, 0, 2], [3, "done", 6, 0, 3]));
  assert.deepEqual(s.sofar, [0, 2]);
});

test("a value that is changed counts anew", () => {
  const s = new Study(head());
  s.append(page([1, "done", 5, 0, 1], [2, "done", 4, 0, 2]));
  s.append(page([2, "failed", null, 0, 2]));
  assert.deepEqual(s.sofar, [0]);
  assert.equal(s.bestRow, 0);
});

test("a selection follows a study that grows", () => {
  const s = new Study(head()), sel = new Selection(s);
  s.append(page([1, "done", 5, 0, 1], [2, "done", 4, 0, 2]));
  let told = 0;
  sel.listen(() => told++);
  const value = columns(s).find((c) => c.key === "value");
  sel.set("value", { text: "< 5", test: value.parse("< 5") });
  assert.equal(told, 1);
  assert.deepEqual([...sel.mask()], [0, 1]);
  s.append(page([3, "done", 1, 0, 3]));
  assert.deepEqual([...sel.mask()], [0, 1, 1]);
  assert.equal(sel.size(), 2);
  sel.clear();
  assert.ok(sel.empty);
  assert.equal(sel.size(), 3);
});

test("rows are sorted by a column, and missing values come last", () => {
  const s = new Study(head());
  s.append(page([1, "done", 5, 0, 1], [2, "failed", null, 0, 2], [3, "done", 1, 0, 3], [4, "done", 5, 0, 4]));
  const by = (key, down) => sorted(s.n, new Uint8Array(4).fill(1), columns(s).find((c) => c.key === key), down).map((k) => s.trials.id[k]);
  assert.deepEqual(by("value", false), [3, 1, 4, 2]);
  assert.deepEqual(by("value", true), [1, 4, 3, 2]);
  assert.deepEqual(by("state", false), [1, 3, 4, 2]);
  assert.deepEqual(by("id", true), [4, 3, 2, 1]);
  assert.deepEqual(sorted(4, new Uint8Array([0, 1, 0, 1]), null, false), [1, 3]);
});

test("names are shown as they are, and found only if they are there", () => {
  assert.equal(visible("a\tb\u001b\u202e"), "a\\tb\\x1b\\u202e");
  const s = /** @type {any} */ (new Study({ study: "s", objective: { metric: "score", goal: "minimize", unit: "points" }, params: [], units: { size: "B" } }));
  assert.deepEqual(["score", "size", "constructor"].map((name) => s.unitOf(name)), ["points", "B", ""]);
});

test("an order of a permutation is a level as soon as a trial has had it", () => {
  const passes = { name: "passes", kind: "permutation", lo: 0, hi: 0, levels: ["inline", "unroll", "licm"] };
  const orders = ["inline,unroll,licm", "inline,licm,unroll", "unroll,inline,licm", "unroll,licm,inline", "licm,inline,unroll"];
  const s = new Study({ ...head(), params: [passes] });
  const rows = page([1, "done", 5, 0, 1], [2, "done", 4, 0, 2], [3, "done", 4, 0, 3]);
  s.append({ ...rows, config: { passes: [orders[4], orders[0], orders[4]] } });
  assert.deepEqual(s.trials.config, [[0, 1, 0]]);
  assert.equal(s.param(0, 2), "licm,inline,unroll");
  assert.equal(passes.levels.length, 3);
});

test("a value that is not in force is none", () => {
  const s = new Study(head());
  s.append({ ...page([1, "done", 5, 0, 1]), config: { n: [null], codec: ["gzip"], on: [null] } });
  assert.equal(s.config(0), "n=– codec=gzip on=–");
});
