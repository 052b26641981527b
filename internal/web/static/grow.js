// Trials as the API and its events have them become the columns that charts draw.

const final = (state) => state !== "running";

// merge takes the rows of b into a: those of ids that a has are replaced unless they have ended
// there, others come behind. It returns how many have changed.
export function merge(a, b) {
  if (!b) return 0;
  a.row ??= new Map(a.id.map((id, k) => [id, k]));
  let n = 0;
  for (const [i, id] of b.id.entries()) {
    let k = a.row.get(id);
    if (k === undefined) {
      k = a.id.length;
      a.row.set(id, k);
    } else if (final(a.state[k])) continue;
    n++;
    for (const key of ["id", "state", "value", "elapsed_s", "reason", "started_ms", "ended_ms", "spent_s", "predicted"]) {
      if (b[key]) (a[key] ??= [])[k] = b[key][i];
    }
    for (const key of ["config", "metrics"]) {
      for (const [name, list] of Object.entries(b[key] ?? {})) ((a[key] ??= {})[name] ??= [])[k] = list[i];
    }
  }
  return n;
}

// columnsOf returns the columns of a study (those of assay report) of columns of the API.
export function columnsOf(c, head) {
  const n = c.id.length, fill = (list, of = null) => Array.from({ length: n }, (_, k) => list?.[k] ?? of);
  const ended = c.id.map((_, k) => k).filter((k) => final(c.state[k]))
    .sort((x, y) => (c.ended_ms[x] ?? 0) - (c.ended_ms[y] ?? 0) || c.id[x] - c.id[y]);
  const nth = new Array(n).fill(0), reasons = [""], byText = new Map([["", 0]]);
  for (const [i, k] of ended.entries()) nth[k] = i + 1;
  const began = c.started_ms.reduce((m, t) => (t > 0 && t < m ? t : m), Infinity);
  const config = head.params.map((p) => {
    const index = p.levels && new Map(p.levels.map((l, i) => [l, i]));
    return fill(c.config[p.name]?.map((v) => (v === null ? null : index ? index.get(String(v)) ?? null : Number(v))));
  });
  return {
    id: c.id, state: c.state, nth, value: fill(c.value), config, elapsed: fill(c.elapsed_s), predict: fill(c.predicted),
    spent: c.id.map((_, k) => c.spent_s?.[k] ?? (c.ended_ms[k] ? (c.ended_ms[k] - began) / 1000 : null)),
    metrics: Object.fromEntries(Object.entries(c.metrics ?? {}).map(([name, list]) => [name, fill(list)])),
    reason: fill(c.reason, "").map((text) => {
      if (!byText.has(text)) byText.set(text, reasons.push(text) - 1);
      return byText.get(text);
    }),
    reasons, started: c.started_ms,
  };
}

// said returns a coordinate as the API says it.
const said = (p, x) => (p.levels ? p.levels[x] : x);

const config = (coordinates, head) => Object.fromEntries(head.params.map((p, i) => [p.name, [said(p, coordinates[i])]]));

const ms = (text) => { const t = Date.parse(text); return t > 0 ? t : null; };

// asked returns the columns of the trial that an event has begun.
export function asked(e, head) {
  if (!e.asked) return null;
  return { id: [e.asked.id], state: ["running"], value: [null], elapsed_s: [0], reason: [""], started_ms: [ms(e.at)],
    ended_ms: [null], config: config(e.asked.config, head) };
}

// told returns the columns of the trial that an event has ended.
export function told(e, head) {
  const t = e.told;
  if (!t) return null;
  const sign = head.objective.goal === "maximize" ? -1 : 1;
  const has = (x) => (x === undefined || x === null ? null : sign * x);
  const m = t.measurement ?? {};
  return {
    id: [t.id], state: [t.state], value: [t.state === "failed" ? null : has(t.value)], elapsed_s: [(m.elapsed_ns ?? 0) / 1e9],
    reason: [t.reason ?? ""], started_ms: [ms(t.started)], ended_ms: [ms(t.ended)], spent_s: [e.spent_ns / 1e9],
    predicted: [has(t.decision?.predicted)], config: config(t.config, head),
    metrics: Object.fromEntries(Object.entries(m.metrics ?? {}).map(([name, x]) => [name, [x]])),
  };
}
