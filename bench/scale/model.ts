import { constants as journal } from "../../src/engine/journal/format/constants.ts";
import { MAX_SHARDS } from "../../src/generated/layouts/shards.ts";
import type { Constants } from "./constants.ts";

/** The load of a program, and its questions. */
export interface Point {
  /** Of all processes. */
  readonly eventsPerSecond: number;
  readonly processes: number;
  /** The longest window, which is the retention. */
  readonly windowMs: number;
  /** Processes that ask for the longest window, each once in `everyMs`. */
  readonly askers: number;
  readonly everyMs: number;
  /** They ask for p50, p90 and p99 beside count, sum, mean and extremes, or these alone. */
  readonly asks: "percentiles" | "moments";
  /** `resolution: "1us"`. */
  readonly isRounded?: boolean;
}

export interface Design {
  readonly structure: "LocalSeries" | "Series" | "ShardedSeries";
  readonly shards: number;
  /** Questions have a `maxAge` of the time between two of them. */
  readonly hasMaxAge: boolean;
  /** A process gathers its events for so long, and records them with one `recordMany`. 0: it records each one at once. */
  readonly gatherMs: number;
}

/** The cost of a design, in each second. */
export interface Cost {
  /** Of all servers. */
  readonly storedBytes: number;
  readonly commands: number;
  readonly requests: number;
  readonly serverCores: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** Of the busiest server. */
  readonly busiestCores: number;
  readonly busiestNetworkBytes: number;
  readonly busiestStoredBytes: number;
  /** Of a process that records and asks. */
  readonly processBytes: number;
  readonly processCores: number;
  readonly processNetworkBytes: number;
  readonly answersFrom: "a copy" | "outlines" | "its own events";
}

/** The time of a round trip in a data centre. Calls that a process makes meanwhile share the next request. */
export const ROUND_TRIP_MS = 0.5;
/** A copy takes at most so much for an event, as docs/promises/series.md says. */
const COPY_BYTES = 14;
/** A process notes its number of shards so often. */
const NOTE_MS = 20_000;
/** A sealed chunk without its events, and its key. */
const CHUNK_BYTES = 300;
/** From the closing of a chunk until it is sealed. */
const SEAL_MS = journal.sealAfterMs + journal.sealSpreadMs / 2;
/** A process that seals nothing looks so often whether others do, as src/engine/series/session/sealing.ts says. */
const LOOK_MS = 4 * (journal.sealAfterMs + 0.8 * journal.sealSpreadMs);

/** How much of a machine oriel may use. */
export const BOUNDS = {
  /** Of a core of one primary, and of one process. */
  serverCores: 0.6,
  processCores: 0.5,
  /** `maxmemory` of a server is twice of what it stores. */
  serverBytes: 64 * 2 ** 30,
  memoryTimes: 2,
  processBytes: 4 * 2 ** 30,
  /** Of 10 and of 1 Gbit a second. */
  serverNetworkBytes: 0.6 * 1.25e9,
  processNetworkBytes: 0.6 * 1.25e8,
} as const;

/** The cost of a design, from measured constants. O(1). */
export function costOf(point: Point, design: Design, measured: Constants): Cost {
  if (design.structure === "LocalSeries") return localCost(point, measured);
  const { eventsPerSecond, processes, isRounded = false } = point;
  const { shards } = design;
  const isSharded = design.structure === "ShardedSeries";
  const sending = sendingOf(point, design, measured);
  const chunk = chunkOf(point, shards, sending.rawBytes);
  const sealedBytes = isRounded ? measured.roundedSealedBytes : measured.sealedBytes;
  const closedBytes = chunk.isSealed ? sealedBytes : sending.rawBytes;
  const asking = askingOf(point, design, measured, sending.rawBytes, chunk.bytes);

  const noted = isSharded ? processes / (NOTE_MS / 1000) : 0;
  // One process seals the closed chunks. Each of the others looks at the newest one, and finds that it is sealed.
  const looks = chunk.isSealed ? (processes * shards) / (Math.max(chunk.ageMs, LOOK_MS) / 1000) : 0;
  const requests = sending.requests + asking.requests + noted + looks;
  const sealing = chunk.isSealed ? eventsPerSecond : 0;
  const replies = sending.requests * sending.replyBytes + looks * measured.questionBytes;
  const sentBytes = replies + asking.sentBytes + sealing * sending.rawBytes;
  const receivedBytes =
    requests * measured.requestBytes + eventsPerSecond * measured.valueBytes + sealing * sealedBytes;
  const serverCores =
    ((requests * measured.requestUs + eventsPerSecond * measured.eventUs) * (isSharded ? measured.shardedTimes : 1) +
      sentBytes * measured.sentByteUs) /
    1e6;
  const seconds = point.windowMs / 1000;
  const storedBytes =
    eventsPerSecond * (seconds * (1 + 1 / journal.chunksPerRetention) + 60) * closedBytes +
    (shards * (seconds + 60) * CHUNK_BYTES) / (chunk.ageMs / 1000) +
    // The open chunk with as much spare room, and those that are not sealed yet.
    eventsPerSecond * sending.rawBytes * (SEAL_MS / 1000) +
    2 * shards * chunk.bytes;
  const times = isSharded && shards > 1 ? measured.busiestTimes : 1;
  return {
    storedBytes,
    commands:
      sending.requests * (sending.commands + (isSharded ? measured.shardCommands : 0)) +
      asking.commands +
      (noted + looks) * measured.sharedCommands,
    requests,
    serverCores,
    receivedBytes,
    sentBytes,
    busiestCores: (serverCores / shards) * times,
    busiestNetworkBytes: (Math.max(sentBytes, receivedBytes) / shards) * times,
    busiestStoredBytes: storedBytes / shards,
    processBytes: asking.memoryBytes,
    processCores:
      ((sending.requestsOfProcess + looks / processes) * measured.processRequestUs +
        (eventsPerSecond / processes) * measured.processEventUs +
        (sealing / processes) * measured.sealUs +
        asking.usOfAsker) /
      1e6,
    processNetworkBytes: asking.bytesOfAsker,
    answersFrom: asking.from,
  };
}

function localCost({ eventsPerSecond, windowMs }: Point, measured: Constants): Cost {
  const none = { storedBytes: 0, commands: 0, requests: 0, serverCores: 0, receivedBytes: 0, sentBytes: 0 };
  return {
    ...none,
    ...{ busiestCores: 0, busiestNetworkBytes: 0, busiestStoredBytes: 0, processNetworkBytes: 0 },
    processBytes: eventsPerSecond * (windowMs / 1000) * measured.localBytes,
    processCores: (eventsPerSecond * measured.ingestUs) / 1e6,
    answersFrom: "its own events",
  };
}

/** The requests that record. */
function sendingOf({ eventsPerSecond, processes }: Point, { shards, gatherMs }: Design, measured: Constants) {
  const eventsOfProcess = eventsPerSecond / processes;
  // A process has one request under way for each shard. Events that are recorded meanwhile share the next one.
  const most = gatherMs > 0 ? 1000 / gatherMs : (shards * 1000) / ROUND_TRIP_MS;
  const filled = (eventsOfProcess * measured.valueBytes) / journal.appendBytes;
  const requestsOfProcess = Math.max(Math.min(eventsOfProcess, most), filled);
  const requests = processes * requestsOfProcess;
  const batch = eventsPerSecond / requests;
  return {
    requests,
    requestsOfProcess,
    rawBytes: measured.valueBytes + measured.frameBytes / batch,
    replyBytes: batch > 1 ? measured.batchReplyBytes : measured.aloneReplyBytes,
    commands: batch > 1 ? measured.batchCommands : measured.aloneCommands,
  };
}

/** An open chunk when it is closed: by its size, or by its size and age. src/engine/series/session/journal-writer.ts has the rule. */
function chunkOf({ eventsPerSecond, windowMs }: Point, shards: number, rawBytes: number) {
  const bytesPerMs = (eventsPerSecond * rawBytes) / shards / 1000;
  const longestMs = Math.max(journal.minChunkMs, windowMs / journal.chunksPerRetention);
  const smallMs = Math.min(
    journal.sealedRotateBytes / bytesPerMs,
    Math.sqrt((journal.minIdleBytes * longestMs) / bytesPerMs),
  );
  const ageMs = Math.min(
    longestMs,
    Math.max(journal.minChunkMs, smallMs),
    Math.max(1, journal.rotateBytes / bytesPerMs),
  );
  const bytes = bytesPerMs * ageMs;
  return { ageMs, bytes, isSealed: bytes >= journal.minSealedBytes };
}

/** The questions of all askers, each answered by what costs less: a copy that takes in what is new, or outlines of the whole window. */
function askingOf(point: Point, design: Design, measured: Constants, rawBytes: number, chunkBytes: number) {
  const { eventsPerSecond, askers, everyMs } = point;
  const everySeconds = everyMs / 1000;
  const isShared = design.hasMaxAge && design.structure === "Series";
  const questions = askers / everySeconds;
  // One process renews a shared answer in its time.
  const computed = isShared ? Math.min(questions, 1 / everySeconds) : questions;
  const shared = isShared ? questions : 0;
  const events = eventsPerSecond * (point.windowMs / 1000);
  const copyBytes = events * COPY_BYTES;
  const fresh = Math.min(events, eventsPerSecond * everySeconds);
  const unsealed = Math.min(events, eventsPerSecond * (SEAL_MS / 1000) + (design.shards * chunkBytes) / 2 / rawBytes);
  const isMoments = point.asks === "moments";
  const outlinesBytes = unsealed * rawBytes + events * (isMoments ? measured.momentBytes : measured.outlineBytes);
  const isCopy = copyBytes <= BOUNDS.processBytes && fresh * rawBytes < outlinesBytes;
  // A question to shards reads the list of them too.
  const requestsEach = design.structure === "ShardedSeries" ? design.shards + 1 : 1;
  const bytesEach = (isCopy ? fresh * rawBytes : outlinesBytes) + requestsEach * measured.questionBytes;
  const outlinesUs = unsealed * measured.ingestUs + events * (isMoments ? measured.momentUs : measured.outlineUs);
  return {
    requests: computed * requestsEach + shared,
    commands: computed * requestsEach * measured.questionCommands + shared * measured.sharedCommands,
    sentBytes: computed * bytesEach + shared * measured.sharedBytes,
    bytesOfAsker: bytesEach / everySeconds,
    memoryBytes: isCopy ? copyBytes : outlinesBytes,
    usOfAsker: isCopy ? eventsPerSecond * measured.ingestUs : outlinesUs / everySeconds,
    from: isCopy ? ("a copy" as const) : ("outlines" as const),
  };
}

/** The share that a design uses of its narrowest bound, and the name of that. Above 1 the design does not hold. */
export function narrowest({ structure }: Design, cost: Cost): { bound: string; share: number } {
  const shares: Record<string, number> =
    structure === "LocalSeries"
      ? {
          "CPU of the process": cost.processCores / BOUNDS.processCores,
          "memory of the process": cost.processBytes / BOUNDS.processBytes,
        }
      : {
          "CPU of a primary": cost.busiestCores / BOUNDS.serverCores,
          "memory of a server": (cost.busiestStoredBytes * BOUNDS.memoryTimes) / BOUNDS.serverBytes,
          "network of a server": cost.busiestNetworkBytes / BOUNDS.serverNetworkBytes,
          "CPU of a process": cost.processCores / BOUNDS.processCores,
          "memory of a process": cost.processBytes / BOUNDS.processBytes,
          "network of a process": cost.processNetworkBytes / BOUNDS.processNetworkBytes,
        };
  const [[bound, share]] = Object.entries(shares).sort(([, a], [, b]) => b - a) as [[string, number]];
  return { bound, share };
}

const GATHERS_MS = [0, 100, 1000];
const SHARDS = Array.from({ length: Math.log2(MAX_SHARDS) }, (_, i) => 2 ** (i + 1));

/** All designs, the simplest first. */
export function designs({ processes }: Pick<Point, "processes">): readonly Design[] {
  const one = { shards: 1, hasMaxAge: false, gatherMs: 0 };
  return [
    ...(processes === 1 ? [{ ...one, structure: "LocalSeries" as const }] : []),
    ...GATHERS_MS.flatMap((gatherMs) =>
      [false, true].map((hasMaxAge) => ({ structure: "Series" as const, shards: 1, hasMaxAge, gatherMs })),
    ),
    ...SHARDS.flatMap((shards) =>
      GATHERS_MS.map((gatherMs) => ({ structure: "ShardedSeries" as const, shards, hasMaxAge: false, gatherMs })),
    ),
  ];
}

/** The questions from the most that one can ask to the least: percentiles, as often as its windows have sixtieths, or less often; else moments. */
function* requests(need: Need): Iterable<Point> {
  for (const asks of ["percentiles", "moments"] as const)
    for (const times of [60, 10, 1]) yield { ...need, asks, everyMs: Math.max(1000, need.windowMs / times) };
}

export type Need = Omit<Point, "asks" | "everyMs">;

/** The simplest design that holds, for the most that can be asked. Undefined if none holds. */
export function choose(need: Need, measured: Constants): { point: Point; design: Design; cost: Cost } | undefined {
  for (const point of requests(need))
    for (const design of designs(need)) {
      const cost = costOf(point, design, measured);
      if (narrowest(design, cost).share <= 1) return { point, design, cost };
    }
  return undefined;
}

/** The most events a second for which a design holds, with two digits, and what ends it there. */
export function endOf(point: Omit<Point, "eventsPerSecond">, design: Design, measured: Constants) {
  const at = (eventsPerSecond: number) => narrowest(design, costOf({ ...point, eventsPerSecond }, design, measured));
  let [holds, ends] = [1, 1e12];
  if (at(holds).share > 1) return { eventsPerSecond: 0, bound: at(holds).bound };
  while (ends / holds > 1.001) {
    const middle = Math.sqrt(holds * ends);
    if (at(middle).share <= 1) holds = middle;
    else ends = middle;
  }
  return { eventsPerSecond: Number(holds.toPrecision(2)), bound: at(ends).bound };
}
