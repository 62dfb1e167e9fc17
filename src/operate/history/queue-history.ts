import { Series } from "../../engine/series/series.ts";
import type { Store } from "../../store/contract.ts";
import { TIMINGS, type Timing, timingSeries } from "./names.ts";

/** The members of `QueueWorker` that a history uses. */
export interface RecordedWorker {
  readonly queue: { readonly name: string };
  on(event: "claimed", listener: (event: { lateMs: number }) => void): () => void;
  on(event: "started", listener: (event: { waitMs: number }) => void): () => void;
  on(event: "completed", listener: (event: { durationMs: number }) => void): () => void;
}

/** The timings of the messages that workers of this process handle, each one an event of a series. */
export class QueueHistory {
  readonly #series: Record<Timing, Series>;

  constructor(store: Store, name: string, retentionMs: number) {
    const options = { retention: retentionMs };
    const of = (timing: Timing) => new Series(store, timingSeries(name, timing), options);
    this.#series = { lateness: of("lateness"), wait: of("wait"), run: of("run") };
  }

  attach(worker: RecordedWorker): () => void {
    const record = (timing: Timing, ms: number) => void this.#series[timing].record(ms).catch(() => {});
    const ends = [
      worker.on("claimed", ({ lateMs }) => record("lateness", lateMs)),
      worker.on("started", ({ waitMs }) => record("wait", waitMs)),
      worker.on("completed", ({ durationMs }) => record("run", durationMs)),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  async close(): Promise<void> {
    await Promise.all(TIMINGS.map((timing) => this.#series[timing].close()));
  }
}
