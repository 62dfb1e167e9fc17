import type { Measured, Row } from "../runner/report.ts";
import { FULL_SHARDS } from "../series/shards.ts";

/** The measured numbers of the model. Times are of one core, in µs. */
export interface Constants {
  /** Redis: a script call, each event in it, and each byte that it sends. */
  requestUs: number;
  eventUs: number;
  sentByteUs: number;
  /** How much more the servers of a sharded series do together, and the busiest does over the mean. */
  shardedTimes: number;
  busiestTimes: number;
  /** An event in an open chunk, and what a frame adds. */
  valueBytes: number;
  frameBytes: number;
  /** Memory of Redis for an event of a sealed chunk, by its values. */
  sealedBytes: number;
  roundedSealedBytes: number;
  /** Outlines of an event, which a question without a copy fetches: for percentiles, and without them. And the time of the process. */
  outlineBytes: number;
  outlineUs: number;
  momentBytes: number;
  momentUs: number;
  /** Bytes of a request without its events, and of the replies. */
  requestBytes: number;
  aloneReplyBytes: number;
  batchReplyBytes: number;
  /** Commands that Redis counts for a request. */
  aloneCommands: number;
  batchCommands: number;
  shardCommands: number;
  /** A question to one shard, and one whose answer is shared. */
  questionCommands: number;
  questionBytes: number;
  sharedCommands: number;
  sharedBytes: number;
  /** The process: a request, an event that it records, one that its copy takes in, and one that it seals. */
  processRequestUs: number;
  processEventUs: number;
  ingestUs: number;
  sealUs: number;
  /** Memory of a LocalSeries for an event. */
  localBytes: number;
}

/** Reads them from a run of the benches. Throws if the run lacks a row. */
export function constantsOf({ reports }: Measured): Constants {
  const rowOf = (bench: string, wanted: Row): Row => {
    const rows = reports.filter((report) => report.bench === bench).flatMap(({ rows }) => rows);
    const found = rows.find((row) => Object.entries(wanted).every(([name, value]) => row[name] === value));
    if (!found) throw new Error(`the run has no row of ${bench} with ${JSON.stringify(wanted)}`);
    return found;
  };
  const number = (bench: string, column: string, wanted: Row) => Number(rowOf(bench, wanted)[column]);
  const ofCallers = (callers: number, column: string) => number("breakdown", column, { callers });
  const outsideScripts = (callers: number) =>
    (ofCallers(callers, "redisUs") - ofCallers(callers, "scriptUs")) * ofCallers(callers, "eventsPerScript");
  const sealed = (values: string, form: string, batch: number, column: string) =>
    number("sealed", column, { events: 1_000_000, values, form, batch });
  /** By the events between a window of 1 M and one of 10 M: the part of a question that every event adds. */
  const growth = (form: string, column: string) => {
    const at = (events: number) => number("sealed", column, { events, values: "unrounded", form, batch: 32 });
    return (at(10_000_000) - at(1_000_000)) / 9_000_000;
  };
  const traffic = (call: string, batch: number, column: string) =>
    number("traffic", column, { structure: "Series", call, batch });
  const most = Math.max(...FULL_SHARDS.shards);
  const sharded = rowOf("shards", { structure: "ShardedSeries", shards: most });
  const plainUs = number("shards", "usPerEvent", { structure: "Series" });

  const requestUs = ofCallers(1, "scriptUs");
  const frameBytes =
    (sealed("unrounded", "as recorded", 1, "bytesPerEvent") - sealed("unrounded", "as recorded", 32, "bytesPerEvent")) /
    (1 - 1 / 32);
  const valueBytes = sealed("unrounded", "as recorded", 1, "bytesPerEvent") - frameBytes;
  const events = ofCallers(1000, "eventsPerScript") - ofCallers(1, "eventsPerScript");
  return {
    requestUs,
    eventUs: plainUs - requestUs / FULL_SHARDS.callers,
    // Each event is received once and sent once.
    sentByteUs: (outsideScripts(1000) - outsideScripts(1)) / events / (2 * valueBytes),
    shardedTimes: Number(sharded.usPerEvent) / plainUs,
    busiestTimes: (Number(sharded.usOfBusiest) * most) / Number(sharded.usPerEvent),
    valueBytes,
    frameBytes,
    sealedBytes: sealed("unrounded", "sealed", 32, "memoryPerEvent"),
    roundedSealedBytes: sealed("rounded to 1 us", "sealed", 32, "memoryPerEvent"),
    outlineBytes: growth("sealed, outlines", "bytes"),
    outlineUs: 1000 * growth("sealed, outlines", "ms"),
    momentBytes: growth("sealed, moments", "bytes"),
    momentUs: 1000 * growth("sealed, moments", "ms"),
    requestBytes: traffic("record", 1, "bytesIn") - valueBytes,
    aloneReplyBytes: traffic("record", 1, "bytesOut"),
    batchReplyBytes: traffic("record", 1024, "bytesOut"),
    aloneCommands: traffic("record", 1, "commands"),
    batchCommands: traffic("record", 1024, "commands"),
    shardCommands:
      number("traffic", "commands", { structure: "ShardedSeries", call: "record", batch: 1 }) -
      traffic("record", 1, "commands"),
    questionCommands: traffic("question, with a copy", 0, "commands"),
    questionBytes: traffic("question, with a copy", 0, "bytesOut"),
    sharedCommands: traffic("question, shared", 0, "commands"),
    sharedBytes: traffic("question, shared", 0, "bytesOut"),
    processRequestUs: ofCallers(1, "wallUs") - ofCallers(1, "idleUs"),
    processEventUs:
      1e6 / number("groups", "eventsPerSecond", { events: 1_000_000, by: "oriel Series, without groups" }),
    ingestUs: number("resident", "us", { values: "lognormal", events: 10_000_000, what: "ingest in frames of 32" }),
    sealUs: number("sealed", "sealNs", { events: 10_000_000, values: "unrounded", form: "sealed", batch: 32 }) / 1000,
    localBytes: number("compact", "plainBytes", { values: "unrounded", events: 10_000_000, what: "ingest" }),
  };
}
