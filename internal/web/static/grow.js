import { textOf } from "./study.js";

// Events of a study, as its record has them, become columns as the API has them: a Study takes
// both in the same way.

/** @typedef {{objective: {goal: string}, params: Param[]}} Head */

/** @param {string | undefined} text */
const ms = (text) => { const t = Date.parse(text ?? ""); return t > 0 ? t : null; };

// conditional reports whether a parameter is in force in some places only. The record has a
// coordinate of it everywhere, and no script can tell where it means something: the API can.
/** @param {Head} head */
export const conditional = (head) => head.params.some((p) => p.when);

/** @param {number[]} coordinates @param {Head} head */
const config = (coordinates, head) => Object.fromEntries(head.params.flatMap((p, i) =>
  p.when ? [] : [[p.name, [textOf(p, coordinates[i])]]]));

// columnsOf returns the columns of the one trial that an event is about; null if it is about none,
// or says nothing that a page shows.
/** @param {any} e @param {Head} head @param {(id: number) => string | undefined} stateOf @returns {Columns | null} */
export function columnsOf(e, head, stateOf) {
  if (e.asked) {
    if (stateOf(e.asked.id)) return null;
    return { id: [e.asked.id], state: ["running"], value: [null], elapsed_s: [null], started_ms: [ms(e.at) ?? 0], ended_ms: [null],
      config: config(e.asked.config, head) };
  }
  const running = (/** @type {number} */ id) => stateOf(id) === "running";
  if (e.started && running(e.started.trial)) {
    return { id: [e.started.trial], state: ["running"], config: {}, worker: [e.started.where ?? ""], class: [e.started.class ?? ""],
      started_ms: [ms(e.at) ?? 0] };
  }
  if (e.withdrawn && running(e.withdrawn.trial)) {
    return { id: [e.withdrawn.trial], state: ["withdrawn"], config: {}, reason: [e.withdrawn.reason ?? ""], ended_ms: [ms(e.at)] };
  }
  const t = e.told;
  if (!t || (stateOf(t.id) && !running(t.id))) return null;
  const sign = head.objective.goal === "maximize" ? -1 : 1;
  const shown = (/** @type {number | null | undefined} */ x) => (x === undefined || x === null ? null : sign * x);
  const m = t.measurement ?? {}, seconds = (m.elapsed_ns ?? 0) / 1e9;
  return {
    id: [t.id], state: [t.state], value: [t.state === "failed" ? null : shown(t.value)], elapsed_s: [seconds],
    reason: [t.reason ?? ""], started_ms: [ms(t.started) ?? 0], ended_ms: [ms(t.ended)], spent_s: [e.spent_ns / 1e9],
    predicted: [shown(t.decision?.predicted)], config: config(t.config, head),
    metrics: { ...Object.fromEntries(Object.entries(m.metrics ?? {}).map(([name, x]) => [name, [/** @type {number} */ (x)]])), elapsed: [seconds] },
  };
}
