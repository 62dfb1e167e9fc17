import { Series } from "../../engine/series/series.ts";
import type { Store } from "../../store/contract.ts";
import { TIMINGS, type Timing, timingSeries } from "./names.ts";
import { isWorker, MAX_NAMES } from "./recorder.ts";

/** The timings of the messages that workers of this process handle, each one an event of a series. */
export class QueueTimings {
  readonly #store: Store;
  readonly #retentionMs: number;
  readonly #byName = new Map<string, Record<Timing, Series>>();
  readonly #ends: (() => void)[] = [];

  constructor(store: Store, retentionMs: number) {
    this.#store = store;
    this.#retentionMs = retentionMs;
  }

  /** Nothing is done with a structure that is no worker of a queue. */
  attach(structure: object): void {
    if (!isWorker(structure)) return;
    const series = this.#seriesOf(structure.queue.name);
    if (!series) return;
    const record = (timing: Timing, ms: number) => void series[timing].record(ms).catch(() => {});
    this.#ends.push(
      structure.on("claimed", ({ lateMs }) => record("lateness", lateMs)),
      structure.on("started", ({ waitMs }) => record("wait", waitMs)),
      structure.on("completed", ({ durationMs }) => record("run", durationMs)),
    );
  }

  #seriesOf(name: string): Record<Timing, Series> | undefined {
    let series = this.#byName.get(name);
    if (!series && this.#byName.size < MAX_NAMES) {
      const of = (timing: Timing) =>
        new Series(this.#store, timingSeries(name, timing), { retention: this.#retentionMs });
      series = { lateness: of("lateness"), wait: of("wait"), run: of("run") };
      this.#byName.set(name, series);
    }
    return series;
  }

  async close(): Promise<void> {
    for (const end of this.#ends) end();
    await Promise.all([...this.#byName.values()].flatMap((each) => TIMINGS.map((timing) => each[timing].close())));
  }
}
