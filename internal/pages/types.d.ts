// The types of what the modules of web/ read and share, for `tsc --checkJs --strict`. Nothing of
// this file is sent.

type Num = number | null;

/** A parameter of a study; a coordinate is an index in levels if there are levels. */
interface Param {
  name: string;
  kind: string;
  unit?: string;
  lo: number;
  hi: number;
  log?: boolean;
  levels?: string[] | null;
  when?: string; // where it is in force; not there for everywhere
}

/** The trials of a study, column by column, as a page holds them: config has a list of coordinates for each parameter. */
interface Rows {
  id: number[];
  state: string[];
  nth: number[]; // in the order in which trials ended, from 1; 0 of one that did not end
  config: Num[][];
  value: Num[];
  elapsed_s: Num[];
  spent_s: Num[]; // of the time budget when it ended
  predicted: Num[]; // what a stop expected
  reason: string[];
  started_ms: number[]; // Unix time
  ended_ms: Num[];
  worker: string[];
  class: string[]; // of the worker's machine
  metrics: Record<string, Num[]>;
}

/** Trials as the server has them (package view): values in place of coordinates, and not always all lists. */
type Columns = Pick<Rows, "id" | "state"> & Partial<Omit<Rows, "id" | "state" | "config">> & { config: Record<string, unknown[]> };

/** What has changed of a study since the last update (package view). */
interface Update {
  events: number;
  at: string;
  spent_s: number;
  trials?: Columns;
  answer?: boolean;
  queue?: boolean;
  ended?: boolean;
}

interface Rerun {
  trial: number;
  state: string;
  value: Num;
  elapsed: Num;
  reason?: string;
  race?: boolean;
  ended_ms?: number; // Unix time
  worker?: string;
  class?: string;
}

/** What an earlier study has pruned from the space, or what is back. */
interface Cut {
  param: string;
  values: string[]; // or ranges "4..7"
  study: string;
  correlation: number;
  alpha: number;
  threshold?: Num;
  restored?: boolean;
  reason: string;
}

interface Sampled {
  x: number;
  mid: number;
  low: number;
  high: number;
}

interface Explained {
  relative: boolean;
  parameters: { name: string; value: unknown; effect: number; importance: number; main_effect: number }[];
  curves: (Sampled[] | null)[];
}

/** The recommendation of a study with one objective (package view). */
interface Answer {
  trial: number;
  value: number;
  runs: number;
  keep: boolean;
  limits?: { metric: string; value: number; limit: number; text: string }[];
}

/** What a page knows of a study. */
interface StudyData {
  study: string;
  objective: { metric: string; goal: string; unit?: string; levels?: boolean };
  objectives?: { metric: string; goal: string; unit?: string }[]; // all, if there are several
  params: Param[];
  units?: Record<string, string>; // of metrics
  trials?: Columns;
  again?: Rerun[];
  cuts?: Cut[];
  answer?: Answer | null;
  front?: { front: { trial: number; runs: number }[]; balanced: number } | null;
  lost_s?: number;
  best?: number; // a trial, 0 for the best so far
  first?: number;
  default?: boolean;
  price?: number;
  spent_s?: number;
  last?: string; // when the last event was
  explain?: Explained | null;
}

interface Scale {
  (x: number): number;
  invert(p: number): number;
  ticks(n: number, unit?: string): number[];
  lo: number;
  hi: number;
}

interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** What axes() draws along one side. */
interface Side {
  scale: (x: number) => number;
  ticks: number[];
  text: (x: number) => string;
  title: string;
}

/** What a chart gives back: update draws what its study has become. */
interface Chart {
  update(): void;
}

/** A condition of a column: what a person wrote, and whether the k-th trial is meant. */
interface Condition {
  text: string;
  test: (k: number) => boolean;
  brush?: boolean;
}

type Draw = (ctx: CanvasRenderingContext2D, width: number, height: number) => void;

/** A plan of a workflow, as `assay plan --json` prints it; see package internal/planning. */
interface Plan {
  workflow: string;
  tasks: number;
  levels: { method: string; levels: Level[] }[] | null;
  estimates: Estimate[];
  bounds: { slots: number; path_s: number; area_s: number }[] | null;
  pareto: Estimate[] | null;
  recommendation: { slots: number; method: string; makespan_s: number; cost: number; feasible: boolean; why: string };
  graph?: Graph | null;
}

interface Level {
  tasks: number;
  sum_s: number;
  max_s: number;
}

interface Estimate {
  method: string;
  slots: number;
  makespan_s: number;
  low_s: number;
  high_s: number;
  cost: number;
  efficiency: number;
}

/** The tasks of a workflow: from[i] ends before to[i] begins, both places in the lists. */
interface Graph {
  id: string[];
  kind: string[];
  run_s: Num[];
  level: number[];
  from: number[];
  to: number[];
}

/** What a cost model predicts, as `assay predict --json` prints it. */
interface Predicted {
  seconds: number;
  low_s: number;
  high_s: Num;
  parts_s?: Record<string, number>;
  extrapolated?: string[];
}
