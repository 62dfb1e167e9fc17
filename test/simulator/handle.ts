import type { Snapshot } from "./laws/truth.ts";
import type { Subject } from "./subject.ts";
import type { SimProcess } from "./world/process.ts";
import type { SimStore } from "./world/store.ts";

/** One Series object in one process, with what the server's steps on its behalf have shown. */
export interface Handle {
  name: string;
  readonly process: SimProcess;
  readonly store: SimStore;
  readonly series: Subject;
  readonly retentionMs: number;
  /** The moments of the server that this object's steps saw, while calls are open. */
  snapshots: Snapshot[];
  openCalls: number;
  /** Kept for the whole schedule; the others ask once. */
  readonly isKept: boolean;
  /** A mutation's memory. */
  firstLook?: unknown;
  /** Recorded while the store was away, or answered so: in the store later, or among those given up. */
  readonly kept: Set<number>;
  /** Events that the series has reported as given up. */
  givenUp: number;
  deletions: { startedMs: number; settledMs: number }[];
}
