/** What happened in one second. */
export interface Second {
  readonly second: number;
  /** Events acknowledged, and refused or without an answer. */
  readonly acknowledged: number;
  readonly failed: number;
  readonly answers: number;
  /** Shares of answers that lacked shards, and of shards that they lacked, %. */
  readonly degradedPercent: number;
  readonly missingPercent: number;
  /** Steps that the busiest primary ran, and one in the mean. */
  readonly busiestSteps: number;
  readonly meanSteps: number;
  /** Bytes that an asker received, in the mean. */
  readonly askerBytes: number;
  /** Share of the recording processes that name the larger number of shards, %. */
  readonly grownPercent: number;
}

interface Bin {
  acknowledged: number;
  failed: number;
  answers: number;
  degraded: number;
  missing: number;
  bytes: number;
  grown: number;
  readonly steps: Uint32Array;
}

/** Counts by the second of the schedule. */
export class Curves {
  readonly #startMs: number;
  readonly #askers: number;
  readonly #recorders: number;
  readonly #bins: readonly Bin[];

  constructor(
    startMs: number,
    { seconds, primaries, askers, recorders }: Record<"seconds" | "primaries" | "askers" | "recorders", number>,
  ) {
    this.#startMs = startMs;
    this.#askers = askers;
    this.#recorders = recorders;
    this.#bins = Array.from({ length: seconds }, () => ({
      ...{ acknowledged: 0, failed: 0, answers: 0, degraded: 0, missing: 0, bytes: 0, grown: 0 },
      steps: new Uint32Array(primaries),
    }));
  }

  /** The counts of a moment. What happens after the schedule is counted by none. */
  at(nowMs: number): Bin | undefined {
    return this.#bins[Math.floor((nowMs - this.#startMs) / 1000)];
  }

  seconds(): Second[] {
    let grown = 0;
    return this.#bins.map((bin, second) => {
      grown += bin.grown;
      const { acknowledged, failed, answers, steps } = bin;
      return {
        ...{ second, acknowledged, failed, answers },
        degradedPercent: answers > 0 ? (100 * bin.degraded) / answers : 0,
        missingPercent: answers > 0 ? (100 * bin.missing) / answers : 0,
        busiestSteps: Math.max(...steps),
        meanSteps: steps.reduce((sum, each) => sum + each, 0) / steps.length,
        askerBytes: bin.bytes / this.#askers,
        grownPercent: (100 * grown) / this.#recorders,
      };
    });
  }
}
