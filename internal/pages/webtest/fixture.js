import { Study } from "../web/study.js";

// study returns a study of n trials that is the same every time.
export function study(n, more = {}) {
  let seed = 11;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const params = [
    { name: "level", kind: "int", lo: 1, hi: 19 }, { name: "threads", kind: "int", lo: 1, hi: 64, log: true },
    { name: "ratio", kind: "real", lo: 0.001, hi: 10, log: true },
    { name: "buffer", kind: "ordinal", lo: 0, hi: 4, levels: ["1M", "4M", "16M", "64M", "256M"] },
    { name: "codec", kind: "categorical", lo: 0, hi: 2, levels: ["gzip", "zstd", "brotli"] },
  ];
  const t = { id: [], state: [], nth: [], value: [], config: Object.fromEntries(params.map((p) => [p.name, []])), spent_s: [], elapsed_s: [],
    predicted: [], metrics: { max_rss: [], size: [] }, reason: [], started_ms: [], ended_ms: [], worker: [], class: [] };
  const reasons = ["", "slower than the best by a fifth", "exit status 1"];
  let spent = 0, best = Infinity, bestID = 0;
  for (let k = 0; k < n; k++) {
    const c = [1 + Math.floor(19 * random()), Math.floor(64 ** random()), 0.001 * 10000 ** random(), Math.floor(5 * random()), Math.floor(3 * random())];
    const v = (20 + 3 * Math.abs(c[0] - 6) + 160 / (1 + c[1]) + 4 * Math.abs(c[3] - 2)) * (c[4] === 1 ? 0.7 : 1) * (0.9 + 0.2 * random());
    const state = k % 17 === 11 ? "failed" : k > 0 && v > best * 1.2 && k % 3 > 0 ? "censored" : c[0] < 3 && k > 0 ? "infeasible" : "done";
    const value = state === "failed" ? null : state === "censored" ? best * 1.2 : v, elapsed = value ?? 0.4;
    t.id.push(k + 1);
    t.state.push(state);
    t.nth.push(k + 1);
    t.value.push(value);
    for (const [i, x] of c.entries()) t.config[params[i].name].push(params[i].levels ? params[i].levels[x] : x);
    t.started_ms.push(1.7e12 + 1000 * spent);
    spent += elapsed;
    t.ended_ms.push(1.7e12 + 1000 * spent);
    t.spent_s.push(spent);
    t.elapsed_s.push(elapsed);
    t.predicted.push(state === "censored" ? v : null);
    t.metrics.max_rss.push(state === "failed" ? null : 2e7 + 1e6 * c[3] * (1 + random()));
    t.metrics.size.push(state === "failed" ? null : 8e6 + 8e4 * (19 - c[0]) + 2e5 * random());
    t.reason.push(reasons[state === "censored" ? 1 : state === "failed" ? 2 : 0]);
    t.worker.push("rack-" + [1, 2, 10][k % 3]);
    t.class.push(k % 3 < 2 ? "small" : "large");
    if (state === "done" && v < best) [best, bestID] = [v, k + 1];
  }
  const again = [];
  for (let i = 0; i < 14; i++) {
    const trial = i % 2 ? bestID : 1;
    again.push({ trial, state: "done", value: t.value[trial - 1] * (0.95 + 0.1 * random()), elapsed: 30, worker: "rack-" + [1, 2, 10][i % 3],
      class: i % 3 < 2 ? "small" : "large", race: i < 4, ended_ms: 1.7e12 + 1000 * (spent + 30 * (i + 1)) });
  }
  const cut = (param, values, more) => ({ param, values, study: "encoder on another disk", correlation: 0.91, alpha: 0.4, threshold: 40, reason: "no run with it was good", ...more });
  const curve = (xs) => xs.map((x, i) => ({ x, mid: 40 + 5 * i, low: 30 + 5 * i, high: 55 + 5 * i }));
  const explain = { relative: true, parameters: [{ name: "threads", value: 9, effect: -0.4, importance: 0.5, main_effect: 0.6 },
    { name: "codec", value: "zstd", effect: -0.1, importance: 0.2, main_effect: 0.1 }], curves: [curve([1, 8, 64]), curve([0, 1, 2])] };
  return new Study({
    study: "encoder", objective: { metric: "elapsed", goal: "minimize", unit: "s" }, params, units: { size: "B", cpu: "s", max_rss: "B" }, trials: t, again, best: bestID, first: 1, default: true,
    price: 0.4 / 3600, spent_s: spent, last: new Date(1.7e12 + 1000 * spent).toISOString(), explain,
    cuts: [cut("level", ["15..19"]), cut("codec", ["gzip"]), cut("buffer", ["1M"]), cut("buffer", ["1M"], { restored: true, reason: "it was good here" })],
    ...more,
  });
}

// plan returns a plan as `assay plan --json` prints it, with the tasks.
export function plan() {
  const estimates = [1, 2, 4, 8, 16].flatMap((slots) => ["tda", "bua"].map((method, i) => {
    const m = 40 + 600 / slots + 12 * i;
    return { method, slots, makespan_s: m, low_s: m * 0.92, high_s: m * 1.1, cost: m * slots * 0.01, efficiency: 600 / (m * slots) };
  }));
  return {
    workflow: "mosaic", tasks: 9, format: "csv", work_s: 122,
    levels: [{ method: "tda", levels: [{ tasks: 4, sum_s: 81, max_s: 22 }, { tasks: 3, sum_s: 18, max_s: 7 }, { tasks: 1, sum_s: 9, max_s: 9 },
      { tasks: 1, sum_s: 14, max_s: 14 }] }, { method: "bua", levels: [{ tasks: 4, sum_s: 81, max_s: 22 }, { tasks: 5, sum_s: 41, max_s: 14 }] }],
    estimates, bounds: [1, 2, 4, 8, 16].map((slots) => ({ slots, path_s: 52, area_s: 600 / slots })), pareto: estimates.filter((e) => e.method === "tda"),
    recommendation: { slots: 8, method: "tda", makespan_s: 115, cost: 9.2, feasible: true, why: "more slots save little" },
    graph: { id: ["p1", "p2", "p3", "p4", "d1", "d2", "d3", "background", "add"], kind: ["project", "project", "project", "project", "difference",
      "difference", "difference", "background", "add"], run_s: [20, 22, 18, 21, 6, 7, 5, 9, 14], level: [0, 0, 0, 0, 1, 1, 1, 2, 3],
      from: [0, 1, 1, 2, 2, 3, 4, 5, 6, 7], to: [4, 4, 5, 5, 6, 6, 7, 7, 7, 8] },
  };
}

export const predicted = { seconds: 84, low_s: 71, high_s: 102, parts_s: { compute: 52, network: 14, disk: 10, stall: 8 }, extrapolated: ["memory 64 GB: the runs had 4 to 32 GB"] };
