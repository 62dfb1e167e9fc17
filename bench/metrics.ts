import { draw } from "./distributions.ts";
import { type Contender, takeTurns } from "./lock/turns.ts";
import { GIVEN, METRICS_RIVALS, type Metrics, type MetricsRival, metricsMissing, OWN } from "./rivals/metrics.ts";
import { median } from "./runner/measure.ts";
import type { Report, Row } from "./runner/report.ts";

export interface MetricsOptions {
  /** Records in a turn. */
  records: number;
  /** Records in a turn of a heavy rival. */
  fewerRecords: number;
  turns: number;
  questions: number;
}

export const FULL_METRICS: MetricsOptions = { records: 2_000_000, fewerRecords: 20_000, turns: 9, questions: 20_000 };
export const SMALL_METRICS: MetricsOptions = { records: 6_400, fewerRecords: 640, turns: 1, questions: 2 };

/** A multiple of the records in one call. */
const BATCH = 6400;
const BATCHES = 21;
const LONGEST_US = 500_000;
const INCREMENT = "yardstick: counts[0]!++";
const CLOCK = "yardstick: Date.now()";

/** One success with its response time, into a window of live metrics of one process. */
export async function benchMetrics(options: MetricsOptions): Promise<Report> {
  const report: Report = {
    bench: "metrics",
    title: "Record one success with its response time into a window of 60 buckets",
    rows: [],
    notes: [
      "recordNs is the mean of a turn, median over turns. The rivals take turns. timesIncrement compares with an increment of one fixed element of an Int32Array in the same turn.",
      `timesClock compares "${OWN}" with Date.now() and "${GIVEN}" together, and the others with Date.now().`,
      `bytesPerRecord: growth of the heap over ${BATCH} records, including one read, median of ${BATCHES}. questionUs: time of the query named under answers, after one more record.`,
      "opossum rotates its window by a timer and keeps every latency. cockatiel keeps no response times. prom-client's values are estimates.",
    ],
  };
  const able = METRICS_RIVALS.filter((rival) => {
    const reason = metricsMissing(rival);
    if (reason) report.notes.push(`${rival.name} was skipped: ${reason}.`);
    return !reason;
  });
  const rts = Float64Array.from(draw("lognormal", 1024, 17));
  const opened = able.map((rival) => new Recorder(rival, rts, options));
  const counts = new Int32Array(16);
  const yardsticks: Contender[] = [
    { name: INCREMENT, turnUs: () => timedUs(options.records, () => increment(counts, options.records)) },
    { name: CLOCK, turnUs: () => timedUs(options.records / 10, () => readClock(options.records / 10)) },
  ];
  const contenders = [...yardsticks, ...opened];
  // The first turns include compilation.
  for (let i = 0; i < 2; i++) for (const contender of contenders) await contender.turnUs();
  const turns = await takeTurns(contenders, options.turns);
  const recordNs = (name: string) => turns.medianUs(name) * 1000;
  const timesOf = (name: string) => turns.timesFaster(INCREMENT, name);
  for (const { name } of yardsticks)
    report.rows.push({
      by: name,
      recordNs: recordNs(name),
      timesIncrement: timesOf(name),
      timesClock: "",
      bytesPerRecord: bytesOf(() => (name === CLOCK ? readClock(BATCH) : increment(counts, BATCH))),
      answers: "",
      questionUs: "",
    });
  for (const recorder of opened) {
    const { name } = recorder;
    const clockNs = recordNs(CLOCK) + (name === OWN ? recordNs(GIVEN) : 0);
    const row: Row = {
      by: name,
      recordNs: recordNs(name),
      timesIncrement: timesOf(name),
      timesClock: recordNs(name) / clockNs,
      bytesPerRecord: recorder.bytesPerRecord(),
      answers: recorder.rival.answers,
      questionUs: await recorder.questionUs(),
    };
    report.rows.push(row);
    recorder.close();
  }
  if (counts[0] === 0) throw new Error("nothing was counted");
  return report;
}

class Recorder implements Contender {
  readonly rival: MetricsRival;
  readonly #metrics: Metrics;
  readonly #rts: Float64Array;
  readonly #options: MetricsOptions;
  #recorded = 0;

  constructor(rival: MetricsRival, rts: Float64Array, options: MetricsOptions) {
    this.rival = rival;
    this.#metrics = rival.open();
    this.#rts = rts;
    this.#options = options;
  }

  get name(): string {
    return this.rival.name;
  }

  turnUs(): number {
    const records = this.rival.isHeavy ? this.#options.fewerRecords : this.#options.records;
    const us = timedUs(records, () => this.#metrics.record(records, this.#rts));
    this.#recorded += records;
    return us;
  }

  bytesPerRecord(): number {
    this.#recorded += BATCH * BATCHES;
    return bytesOf(() => this.#metrics.record(BATCH, this.#rts));
  }

  async questionUs(): Promise<number> {
    const counted = this.#metrics.successes?.();
    if (counted !== undefined && counted !== this.#recorded)
      throw new Error(`${this.name} counted ${counted} successes; ${this.#recorded} were recorded`);
    let [us, asked] = [0, 0];
    for (; asked < this.#options.questions && us < LONGEST_US; asked++) {
      this.#metrics.record(1, this.#rts);
      const startMs = performance.now();
      const answer = await this.#metrics.ask();
      us += (performance.now() - startMs) * 1000;
      if (!Number.isFinite(answer)) throw new Error(`${this.name} answered ${answer}`);
    }
    return us / asked;
  }

  close(): void {
    this.#metrics.close?.();
  }
}

/** Growth of the heap per record, in batches that are small enough to lie between two collections. */
function bytesOf(recordBatch: () => unknown): number {
  const bytes = Array.from({ length: BATCHES }, () => {
    const before = process.memoryUsage().heapUsed;
    recordBatch();
    return (process.memoryUsage().heapUsed - before) / BATCH;
  });
  return Math.max(0, median(bytes));
}

function timedUs(times: number, run: () => void): number {
  const startMs = performance.now();
  run();
  return ((performance.now() - startMs) * 1000) / times;
}

function increment(counts: Int32Array, times: number): void {
  for (let i = 0; i < times; i++) counts[0]!++;
}

function readClock(times: number): number {
  let sum = 0;
  for (let i = 0; i < times; i++) sum += Date.now() & 1;
  return sum;
}
