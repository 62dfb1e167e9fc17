import { type Modes, modesOf } from "./modes.ts";
import { CALM, type Weather } from "./world/network.ts";
import { Random } from "./world/random.ts";
import { weatherOf } from "./world/weather.ts";

/** One schedule's conditions, all drawn from its seed. */
export interface Plan {
  readonly seed: number;
  readonly durationMs: number;
  readonly retentionMs: number;
  /** Asked for by some of the processes only; equal to `retentionMs` in most schedules. */
  readonly largerRetentionMs: number;
  /** When those begin to write, in ms from the start: some of what they would want is gone by then. */
  readonly lateRetentionMs: number;
  /** Options of the series, drawn from the matrix. */
  readonly modes: Modes;
  readonly clock: "server" | "event";
  /** No fault of any kind: nothing may be degraded, nothing may fail. */
  readonly isPlain: boolean;
  readonly weather: Weather;
  readonly writerCount: number;
  readonly readerCount: number;
  /** Mean ms between two calls of one writer. */
  readonly paceMs: number;
  /** Page, chunk and append bounds in bytes; the law's are too large to be reached in a schedule. */
  readonly sizes: {
    readonly pageBytes: number;
    readonly rotateBytes: number;
    readonly appendBytes: number;
    readonly coldBytes: number;
  };
  /** How far the events of an event clock lag behind. */
  readonly eventLagMs: number;
  readonly hasOwnTimes: boolean;
  readonly hasDeletes: boolean;
  /** How often each of these happens in the schedule. */
  readonly clockSteps: number;
  readonly failovers: number;
  readonly silences: number;
  readonly refusals: number;
  readonly migrations: number;
  readonly pauses: number;
  readonly kills: number;
  /** All writers rest for so long, once: the whole journal may expire meanwhile. */
  readonly restMs: number;
  /** Processes that live for a call or two, as a function's do. */
  readonly visitorCount: number;
  /** How likely a process is frozen while a request of it is under way; its monotonic clock stands still meanwhile. */
  readonly freezes: number;
  /** How likely the server's clock steps when an attempt was not answered: between two attempts of one call. */
  readonly stepsBetween: number;
  readonly largestStepMs: number;
  /** When the processes of the series close idle chunks and seal closed ones; at 1e9 ms they do not. */
  readonly upkeep: { sealAfterMs: number; sealSpreadMs: number; idleMs: number; minIdleBytes: number };
  /** Processes that seal closed chunks, besides those of the series. */
  readonly sealerCount: number;
  readonly sealPaceMs: number;
  /** Processes whose questions are of series opened anew. */
  readonly newReaderCount: number;
  readonly requestBytes: number;
  /** Longest time between a sealer's read and its write. */
  readonly sealThinkMs: number;
}

/** Modes have a source of their own: a new one leaves the rest of every schedule as it is. */
const MODES_SEED = 0x0dd5;

export function planOf(seed: number): Plan {
  const random = new Random(seed);
  const isPlain = random.chance(0.1);
  const some = (probability: number, most: number) =>
    !isPlain && random.chance(probability) ? random.int(1, most) : 0;
  /** Failovers one upon the other: many fall between the steps of one read. */
  const isStormy = !isPlain && random.chance(0.15);
  const isLong = random.chance(0.2);
  const durationMs = isLong ? random.int(120_000, 300_000) : random.int(40_000, 100_000);
  // Copies begin to grow backwards where a window is longer than the 80 s that every read takes in anyway.
  const retentionMs = random.pick(
    isLong ? [5_000, 15_000, 70_000, 150_000, 250_000] : [5_000, 8_000, 15_000, 30_000, 70_000],
  );
  const ofSeals = new Random(seed ^ 0x5ea1);
  const isEventClock = random.chance(0.15);
  const ofUpkeep = new Random(seed ^ 0x5ea2);
  const never = 1e9;
  return {
    seed,
    durationMs,
    retentionMs,
    largerRetentionMs: random.chance(0.2) ? retentionMs * random.int(2, 4) : retentionMs,
    lateRetentionMs: random.pick([0, random.int(0, durationMs - 20_000)]),
    modes: modesOf(new Random(seed ^ MODES_SEED)),
    clock: isEventClock ? "event" : "server",
    isPlain,
    weather: isPlain ? CALM : weatherOf(random),
    writerCount: random.int(1, 4),
    readerCount: random.int(1, 3),
    paceMs: random.pick(isLong ? [1000, 2500] : [200, 500, 1000, 2500]),
    sizes: {
      // A failover between two pages may put a lost frame back with a later stamp: no step's truth, and no lie.
      pageBytes: random.pick([2_000, 6_000, 1 << 20]),
      rotateBytes: random.pick([600, 1 << 20, 1 << 20]),
      appendBytes: random.pick([1_000, 1 << 20, 1 << 20]),
      coldBytes: random.pick([1_500, 1 << 20, 1 << 20]),
    },
    eventLagMs: random.pick([0, 10_000, 1_000_000]),
    hasOwnTimes: isEventClock || random.chance(0.3),
    hasDeletes: random.chance(0.2),
    clockSteps: some(0.5, 4),
    failovers: isStormy ? random.int(10, 40) : some(0.5, 4),
    silences: some(0.3, 3),
    refusals: some(0.3, 3),
    migrations: some(0.3, 2),
    pauses: some(0.3, 4),
    kills: some(0.3, 2),
    restMs: random.chance(0.15) ? random.int(retentionMs, retentionMs + 80_000) : 0,
    visitorCount: random.chance(0.3) ? random.int(1, 2) : 0,
    freezes: !isPlain && random.chance(0.25) ? random.pick([0.01, 0.05, 0.2]) : 0,
    stepsBetween: !isPlain && random.chance(0.25) ? random.pick([0.1, 0.5]) : 0,
    largestStepMs: random.pick([6_000, 60_000]),
    upkeep: {
      sealAfterMs: ofUpkeep.pick([never, 100, 1000]),
      sealSpreadMs: ofUpkeep.pick([0, 1000, 4000]),
      idleMs: ofUpkeep.pick([never, 1500, 5000]),
      minIdleBytes: ofUpkeep.pick([200, 2000]),
    },
    sealerCount: ofSeals.int(1, 3),
    newReaderCount: ofSeals.int(0, 1),
    sealPaceMs: ofSeals.pick([100, 500, 3_000]),
    sealThinkMs: ofSeals.pick([0, 10, 1_000, 8_000]),
    // If requests cost nothing, even these small windows are often answered from outlines.
    requestBytes: ofSeals.pick([0, 0, 16 << 10]),
  };
}
