import type { StructureKind } from "../../store/registry/live.ts";
import type { RegisteredProcess } from "../../store/registry/read-registry.ts";
import type { StoreHealth } from "../doctor/health/store-health.ts";

// Messages between the server and the page of the dashboard, as JSON. A number that does not exist (the percentile of an empty
// window) is null.

/** One structure of the overview. The page names it by `id`, because names may be long. */
export interface StructureEntry {
  id: string;
  kind: StructureKind;
  name: string;
  settings: Readonly<Record<string, unknown>>;
  version: string;
  processes: number;
  /** Server time of its last announcement, ms since 1970. */
  seenMs: number;
  conflict?: { process: string; settings: Readonly<Record<string, unknown>> };
  columns: Columns;
  /** Names of what an operator may do with it; empty if the dashboard allows no actions. */
  actions: readonly string[];
}

export type ProcessEntry = Pick<RegisteredProcess, "id" | "host" | "version" | "startedMs" | "seenMs">;

export type HealthEntry = StoreHealth;

export interface Overview {
  nowMs: number;
  version: string;
  structures: readonly StructureEntry[];
  processes: readonly ProcessEntry[];
  health: HealthEntry;
  allowsActions: boolean;
  masksIds: boolean;
}

/** A number of a row. */
export type Column = "rate" | "p50" | "p90" | "p99" | "max" | "denied" | "lag";
/** The trend and the numbers that rows of a kind have beside a name and a state. */
export type Columns = readonly ("spark" | Column)[];

/** The numbers of one row over the span that the page asked for. Absent: the kind cannot fill the column. */
export type RowNumbers = { [name in Column]?: number | null } & {
  /** Events in each part of the span, oldest first. */
  spark?: readonly number[];
  /** The state in a few words, if it is worth a look. */
  state?: string;
  /** Calls are rejected, or messages are dead. */
  isBad?: boolean;
  /** Where to look, if it is bad. */
  advice?: string;
  /** Why there are no numbers. */
  error?: string;
};

/** The events of the stream `api/stream`. */
export interface StreamEvents {
  health: HealthEntry;
  rows: Record<string, RowNumbers>;
  /** The structures or processes have changed: ask for the overview again. */
  changed: { nowMs: number };
}

export interface AuditEntry {
  atMs: number;
  action: string;
  kind: string;
  name: string;
  /** The id that was changed, masked under `maskIds`. */
  target: string;
  /** The user, as `authorize` named it, or null. */
  by: string | null;
  /** How long an id was blocked, as it was asked for. */
  duration?: string;
  /** The tag of a limiter's id, masked under `maskIds`. */
  tag?: string;
  /** Absent while the action runs, and if nobody knows what became of it. */
  outcome?: "done" | "failed";
}

/** The columns of a series' view: one number for each bucket, oldest first. */
export interface SeriesView {
  fromMs: number;
  toMs: number;
  /** Ends of the buckets. A bucket begins where the one before it ends, and the first one at `fromMs`. */
  endsMs: readonly number[];
  count: readonly number[];
  /** Events per second. */
  rate: readonly (number | null)[];
  p50: readonly (number | null)[];
  p90: readonly (number | null)[];
  p99: readonly (number | null)[];
  max: readonly (number | null)[];
  /** Null if the window has no finite value. */
  heat: Heat | null;
  whole: WindowNumbers;
}

interface Heat {
  /** Edges of the value bins, ascending; one more than there are bins. */
  edges: readonly number[];
  isLog: boolean;
  /** Events of each bucket in each bin: `cells[bucket * bins + bin]`. */
  cells: readonly number[];
}

export interface WindowNumbers {
  fromMs: number;
  toMs: number;
  count: number;
  rate: number | null;
  mean: number | null;
  std: number | null;
  min: number | null;
  max: number | null;
  p50: number | null;
  p90: number | null;
  p99: number | null;
  /** Share of the events below the limit that the page asked for. */
  below: number | null;
  degradedBy: string | null;
}

export interface Distribution {
  window: WindowNumbers;
  /** Exact percentiles. */
  percentiles: readonly { p: number; value: number | null }[];
  histogram: { edges: readonly number[]; isLog: boolean; counts: readonly number[] } | null;
}
