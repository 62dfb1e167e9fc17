import { argumentError, checkKnown } from "../errors.ts";
import { type Duration, durationMs } from "../time.ts";
import { type BucketName, checkBuckets } from "./buckets.ts";
import { MOST_SHARDS } from "./format/layout.ts";

export interface CountersOptions<Dimension extends string = string> {
  /** What is told apart: 1 to 16 names, with those added later, of A-Z a-z 0-9 _, from a letter, up to 48 characters. */
  dimensions: readonly Dimension[];
  /**
   * Dimensions that were added to a counter that had counted without them: they stand here for good, in the order in which
   * they came. What was counted without them has the empty value. A process without them may go on counting, and can no
   * longer read or drain (MISMATCH). The table needs their columns before: docs/runbook/add-a-dimension.md.
   */
  addedDimensions?: readonly Dimension[];
  /** By what time: default minute, hour and day. The finest is counted in Redis, the others follow from it. */
  buckets?: readonly BucketName[];
  /** In which hours and days begin, of the IANA database; default "UTC". */
  timeZone?: string;
  /** Parts that may lie on different primaries: 1 to 1024, default 64. All who use the counter must agree. */
  shards?: number;
  /** Replicas that must have a count before it is acknowledged; default 0. */
  replicas?: number;
  /**
   * Repeats what is counted in plain keys that other programs read with GET, for instance S1:202611211200:3:D. They are
   * approximate after faults, and cost a command for each row and bucket. An added dimension's value follows the others.
   */
  mirror?: CounterMirror;
  /** Told of counts that a failover took away when they could not be given again: `total`, NaN where not even that is known. */
  onLost?: (loss: { total: number }) => void;
}

export interface CounterMirror {
  /** Begins every key; default "". */
  prefix?: string;
  /** How long a key stays after its last count; default "2d". */
  keep?: Duration;
}

export interface CountersSettings {
  /** With those that were added, at the end. */
  dimensions: readonly string[];
  addedDimensions: readonly string[];
  buckets: readonly BucketName[];
  timeZone: string;
  shards: number;
  replicas: number;
  mirror: { prefix: string; keepMs: number } | undefined;
  onLost: (loss: { total: number }) => void;
}

const OPTIONS = ["dimensions", "addedDimensions", "buckets", "timeZone", "shards", "replicas", "mirror", "onLost"];

const MOST_DIMENSIONS = 16;

export function countersSettings(options: CountersOptions): CountersSettings {
  checkKnown(options, OPTIONS);
  const { buckets = ["minute", "hour", "day"], timeZone = "UTC", shards = 64, replicas = 0 } = options;
  if (!Number.isInteger(shards) || shards < 1 || shards > MOST_SHARDS)
    throw argumentError("shards", shards, `a whole number from 1 to ${MOST_SHARDS}`);
  if (!Number.isInteger(replicas) || replicas < 0)
    throw argumentError("replicas", replicas, "a whole number, 0 or more");
  if (typeof timeZone !== "string") throw argumentError("timeZone", timeZone, "the name of a time zone");
  const { onLost } = options;
  if (onLost !== undefined && typeof onLost !== "function") throw argumentError("onLost", onLost, "a function");
  return {
    ...dimensionSettings(options),
    buckets: Object.freeze(checkBuckets(buckets)),
    timeZone,
    shards,
    replicas,
    mirror: mirrorSettings(options.mirror),
    onLost: options.onLost ?? (() => {}),
  };
}

function dimensionSettings({ dimensions, addedDimensions = [] }: CountersOptions) {
  if (!Array.isArray(dimensions) || dimensions.length < 1 || dimensions.length > MOST_DIMENSIONS)
    throw argumentError("dimensions", dimensions, `an array of 1 to ${MOST_DIMENSIONS} names`);
  const most = MOST_DIMENSIONS - dimensions.length;
  if (!Array.isArray(addedDimensions) || addedDimensions.length > most)
    throw argumentError("addedDimensions", addedDimensions, `an array of at most ${most} names, for 16 in all`);
  for (const [option, names] of Object.entries({ dimensions, addedDimensions }))
    for (const name of names)
      if (typeof name !== "string" || !/^[A-Za-z]\w{0,47}$/.test(name))
        throw argumentError(option, name, "names of A-Z a-z 0-9 _, from a letter, up to 48 characters");
  const all = [...dimensions, ...addedDimensions];
  if (new Set(all.map((name) => name.toLowerCase())).size < all.length)
    throw argumentError(
      addedDimensions.length > 0 ? "dimensions and addedDimensions" : "dimensions",
      all.join(", "),
      "names that differ in more than their case",
    );
  return { dimensions: Object.freeze(all), addedDimensions: Object.freeze([...addedDimensions]) };
}

function mirrorSettings(mirror: CounterMirror | undefined): CountersSettings["mirror"] {
  if (mirror === undefined) return undefined;
  checkKnown(mirror, ["prefix", "keep"], "mirror");
  const { prefix = "", keep = "2d" } = mirror;
  if (typeof prefix !== "string" || !/^\P{Surrogate}{0,256}$/u.test(prefix))
    throw argumentError("mirror.prefix", prefix, "a string of at most 256 characters, without half surrogate pairs");
  return { prefix, keepMs: durationMs("mirror.keep", keep, 1000, 366 * 86_400_000) };
}
