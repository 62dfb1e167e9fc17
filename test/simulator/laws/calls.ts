import { OrielError } from "../../../src/base/errors.ts";
import type { Handle } from "../handle.ts";
import type { Plan } from "../plan.ts";
import type { World } from "../world/world.ts";
import type { Chunk } from "./journal.ts";
import type { Ledger } from "./ledger.ts";
import { type Expected, eventsOf, expectedOf, presentOf, type Snapshot, traceableSinceMs } from "./truth.ts";

export interface Query {
  readonly spanMs: number;
  readonly atMs?: number | undefined;
  /** The percentiles are numbers of the window, by the method inverted_cdf. */
  readonly hasRanks?: boolean;
}

/** The predictable part of the answer of a statistics call. `values` answers events instead. */
interface Reported {
  count: number;
  sum: number;
  min: number;
  max: number;
  to: number;
  degraded: boolean;
  degradedBy?: string;
  percentiles: Record<number, number>;
}

interface Open {
  readonly what: string;
  readonly handle: Handle;
  readonly startedMs: number;
  readonly pausedMs: number;
}

const LONGEST_CALL_MS = 120_000;
/** Failures that a call with right arguments may end with in a bad world. */
const EXPECTED_CODES = new Set(["DEADLINE", "UNAVAILABLE", "STALE", "LATE", "EARLY", "OVERLOADED"]);

/** Every call, and whether its answer was true. */
export class Calls {
  readonly recordedMs = new Map<number, number>();
  readonly acknowledged = new Set<number>();
  readonly refused = new Set<number>();
  answered = 0;
  failed = 0;
  degraded = 0;
  /** The processes that keep events that they could not record. */
  readonly keepers = new Set<Handle>();
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #isPlain: boolean;
  readonly #retentionMs: number;
  readonly #open = new Set<Open>();

  constructor(world: World, ledger: Ledger, { isPlain, retentionMs }: Plan) {
    this.#world = world;
    this.#ledger = ledger;
    this.#isPlain = isPlain;
    this.#retentionMs = retentionMs;
  }

  /** Follows a call to its end. `events` are the values recorded with their own times, if any. */
  async follow(
    what: string,
    handle: Handle,
    call: () => Promise<unknown>,
    events: ReadonlyMap<number, number | undefined> = new Map(),
    query?: Query,
  ): Promise<void> {
    const open = { what, handle, startedMs: this.#world.nowMs, pausedMs: handle.process.pausedMs };
    const firstSnapshot = handle.snapshots.length;
    for (const value of events.keys()) this.recordedMs.set(value, open.startedMs);
    this.#open.add(open);
    handle.openCalls++;
    try {
      const answer = await call();
      if ((answer as Reported | undefined)?.degradedBy === "local") this.#keep(open, answer as Reported, events);
      else this.#acknowledge(what, events);
      if (query) this.#judge(open, query, answer, handle.snapshots.slice(firstSnapshot));
    } catch (error) {
      this.#fail(open, error, events);
    } finally {
      this.#open.delete(open);
      if (--handle.openCalls === 0) handle.snapshots = [];
    }
  }

  /** Calls that should have ended long ago. With `boundMs` 0, every open call. */
  checkHanging(boundMs = LONGEST_CALL_MS): void {
    for (const open of this.#open) {
      const { process } = open.handle;
      if (process.state !== "running") continue;
      const lastedMs = this.#world.nowMs - open.startedMs - (process.pausedMs - open.pausedMs);
      if (lastedMs <= boundMs) continue;
      this.#world.violation(`${open.handle.name} ${open.what} hangs since ${lastedMs} ms`);
      this.#open.delete(open);
    }
  }

  #acknowledge(what: string, events: ReadonlyMap<number, number | undefined>): void {
    for (const [value, atMs] of events) {
      this.acknowledged.add(value);
      const fate = this.#ledger.fates.get(value);
      if (!fate) this.#world.violation(`${what} acknowledged event ${value}, which was never stored`);
      else if (atMs !== undefined && fate.atMs !== atMs)
        this.#world.violation(`event ${value} was recorded at ${atMs} and is stored at ${fate.atMs}`);
    }
  }

  /** This process alone answers for them: no moment of the server says what it should say. */
  #keep({ what, handle }: Open, { count = 0 }: Reported, events: Iterable<[number, unknown]>): void {
    if (this.#isPlain) this.#world.violation(`${handle.name} ${what} is answered locally without a fault`);
    if (count > this.recordedMs.size) this.#world.violation(`${handle.name} ${what} counts more than was recorded`);
    this.keepers.add(handle);
    for (const [value] of events) handle.kept.add(value);
  }

  #fail({ what, handle }: Open, error: unknown, events: ReadonlyMap<number, number | undefined>): void {
    this.failed++;
    this.#world.note(() => `${handle.name} ${what} failed: ${error}; events ${[...events.keys()].slice(0, 8)}`);
    if (!(error instanceof OrielError) || !EXPECTED_CODES.has(error.code)) {
      this.#world.violation(`${handle.name} ${what} failed with ${(error as Error)?.stack ?? error}`);
      return;
    }
    if (this.#isPlain && error.code !== "LATE" && error.code !== "EARLY")
      this.#world.violation(`${handle.name} ${what} failed without a fault: ${error}`);
    if (error.applied === "no") for (const value of events.keys()) this.refused.add(value);
  }

  #judge(open: Open, query: Query, answer: unknown, snapshots: readonly Snapshot[]): void {
    this.answered++;
    const { handle, what } = open;
    const events = isEvents(answer) ? Float64Array.from(answer).sort() : undefined;
    const reported = events ? undefined : (answer as Reported);
    if (reported?.degraded) this.degraded++;
    if (reported?.degradedBy === "local") return;
    const tried: string[] = [];
    let wrong: string | undefined;
    // Counting what is missing goes through all the books: for each one-time reader, and now and then.
    const isThorough = !handle.isKept || this.answered % 8 === 0;
    for (const snapshot of snapshots) {
      if (reported && reported.to !== (query.atMs ?? presentOf(snapshot))) continue;
      const expected = expectedOf(snapshot, query.spanMs, query.atMs);
      const fits = (one: Expected) => (events ? isSame(events, one.values) : agrees(reported!, one, query));
      const journal = this.#ledger.whole(snapshot.chain, expected.fromMs);
      const whole =
        journal === snapshot.chain
          ? expected
          : expectedOf({ ...snapshot, chain: journal }, query.spanMs, expected.toMs);
      const isWhole = fits(whole);
      if (isWhole || fits(expected) || this.#isOfPart(journal, snapshot, query.spanMs, expected.toMs, fits)) {
        if (!reported) return;
        const mayLack = isThorough || !isWhole || reported.degraded || expected.isDegraded;
        const missing = mayLack ? this.#missing(snapshot, whole, journal) : [];
        const must = expected.isDegraded || missing.length > 0 || !isWhole;
        const may = must || this.#ledger.hasExpiredBefore(expected.fromMs);
        // Two steps of one millisecond may require different answers. One of them must fit.
        if (must && !reported.degraded) wrong ??= `is not marked degraded; missing ${missing.slice(0, 5)}`;
        else if (reported.degraded && this.#isPlain && !may) wrong ??= "is marked degraded without a reason";
        else return;
        continue;
      }
      const how = events ? difference(events, expected.values) : `count ${expected.count} sum ${expected.sum}`;
      tried.push(`[to ${expected.toMs % 1e9}: ${how}]`);
    }
    if (tried.length === 0) tried.push(`its presents were ${snapshots.map((one) => presentOf(one) % 1e9).slice(0, 9)}`);
    const got = reported
      ? `to ${reported.to % 1e9}: count ${reported.count} sum ${reported.sum} degraded ${reported.degraded}`
      : "values";
    wrong ??= `answers ${got}, which was true at none of its steps: ${tried.slice(0, 6).join(" ")}`;
    this.#world.violation(`${handle.name} ${what} of ${JSON.stringify(query)} ${wrong}`);
  }

  /**
   * Whether the answer is that of a copy which begins with one of the chunks, because the one before it was gone when
   * the copy was made or grew; frames count where that copy has them first.
   */
  #isOfPart(
    journal: readonly Chunk[],
    snapshot: Snapshot,
    spanMs: number,
    toMs: number,
    fits: (part: Expected) => boolean,
  ): boolean {
    for (let length = 1; length < journal.length; length++) {
      if (!this.#ledger.wasGone(journal[length]!)) continue;
      if (fits(expectedOf({ ...snapshot, chain: journal.slice(0, length) }, spanMs, toMs))) return true;
    }
    return false;
  }

  /** Events that the server had taken and not lost by then, and that its whole journal does not hold. */
  #missing(snapshot: Snapshot, { fromMs, toMs, values }: Expected, journal: readonly Chunk[]): number[] {
    const missing: number[] = [];
    const stampedSinceMs = traceableSinceMs(snapshot, this.#retentionMs, this.#ledger.latestMs);
    for (const [value, { atMs, stampMs, step, state }] of this.#ledger.fates)
      if (state === "present" && step <= snapshot.step && atMs > fromMs && atMs <= toMs && stampMs > stampedSinceMs)
        missing.push(value);
    const inside = new Set(values);
    const outside = missing.filter((value) => !inside.has(value));
    if (outside.length === 0) return outside;
    // A copy of the frame that came first may have another time than the one in the books.
    const held = new Set(eventsOf(journal).map((event) => event.value));
    return outside.filter((value) => !held.has(value));
  }
}

function agrees(reported: Reported, truth: Expected, { hasRanks }: Query): boolean {
  const { count, sum, values } = truth;
  const rank = (p: number) => values[Math.max(0, Math.ceil((p / 100) * count) - 1)];
  if (hasRanks && count > 0)
    for (const [p, value] of Object.entries(reported.percentiles)) if (rank(Number(p)) !== value) return false;
  return (
    reported.count === count &&
    reported.sum === sum &&
    (count === 0 || (reported.min === values[0] && reported.max === values.at(-1)))
  );
}

function isEvents(answer: unknown): answer is Float64Array {
  return answer instanceof Float32Array || answer instanceof Float64Array;
}

function isSame(a: Float64Array, b: Float64Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

function difference(got: Float64Array, wanted: Float64Array): string {
  const extra = got.filter((value, i) => !wanted.includes(value) || got.indexOf(value) !== i);
  const lacking = wanted.filter((value) => !got.includes(value));
  return `too many ${extra.slice(0, 8)} too few ${lacking.slice(0, 8)}`;
}
