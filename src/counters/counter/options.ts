import { inThisContext } from "../../base/async/context.ts";
import { argumentError, checkKnown } from "../../base/errors.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import { type BucketName, checkBuckets } from "./buckets.ts";
import { MAX_SHARDS } from "./format/layout.ts";

/** Options of `Counters`. Dimensions, buckets, time zone and shards must be the same in all processes. */
export interface CountersOptions<Dimension extends string = string> {
  /** 1 to 16 names, added dimensions included, of A-Z a-z 0-9 _, beginning with a letter, up to 48 characters each. */
  dimensions: readonly Dimension[];
  /**
   * Dimensions added to a counter that has already counted without them. Keep them here, in the order in which they
   * were added. Earlier counts have the empty value. A process without these dimensions can still count, but no longer
   * read or drain (MISMATCH). Add their columns to the table first: docs/runbook/add-a-dimension.md.
   */
  addedDimensions?: readonly Dimension[] | undefined;
  /**
   * Lengths of time buckets. Default minute, hour and day. Redis counts the finest; the others are computed from it.
   */
  buckets?: readonly BucketName[] | undefined;
  /** The IANA time zone in which hours and days begin. Default "UTC". */
  timeZone?: string | undefined;
  /**
   * The number of keys, which may be on different primaries: 1 to 1024, default 64. All processes must use the same.
   */
  shards?: number | undefined;
  /** The number of replicas that must have a count before it is acknowledged. Default 0. */
  replicas?: number | undefined;
  /**
   * Also adds the counts to plain keys that other programs read with GET, for example S1:202611211200:3:D. They are
   * approximate after faults, and cost one command per row and bucket. Values of added dimensions follow the others.
   */
  mirror?: CounterMirror | undefined;
  /** Called when a failover lost counts that could not be sent again. `total`: their number, NaN if unknown. */
  onLost?: ((loss: { total: number }) => void) | undefined;
}

/** Plain keys in Redis that repeat the counts, for programs that read them there. */
export interface CounterMirror {
  /** Prefix of every key. Default "". */
  prefix?: string | undefined;
  /** How long a key is kept after its last count. Default "2d". */
  keep?: Duration | undefined;
}

export interface CountersSettings {
  /** All dimensions; the added ones come last. */
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

const MAX_DIMENSIONS = 16;

export function countersSettings(options: CountersOptions): CountersSettings {
  checkKnown(options, OPTIONS);
  const { buckets = ["minute", "hour", "day"], timeZone = "UTC", shards = 64, replicas = 0 } = options;
  if (!Number.isInteger(shards) || shards < 1 || shards > MAX_SHARDS)
    throw argumentError("shards", shards, `a whole number from 1 to ${MAX_SHARDS}`);
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
    onLost: inThisContext(options.onLost ?? (() => {})),
  };
}

function dimensionSettings({ dimensions, addedDimensions = [] }: CountersOptions) {
  if (!Array.isArray(dimensions) || dimensions.length === 0 || dimensions.length > MAX_DIMENSIONS)
    throw argumentError("dimensions", dimensions, `an array of 1 to ${MAX_DIMENSIONS} names`);
  const maxAdded = MAX_DIMENSIONS - dimensions.length;
  if (!Array.isArray(addedDimensions) || addedDimensions.length > maxAdded)
    throw argumentError("addedDimensions", addedDimensions, `an array of at most ${maxAdded} names, for 16 in all`);
  for (const [option, names] of Object.entries({ dimensions, addedDimensions }))
    for (const name of names)
      if (typeof name !== "string" || !/^[A-Za-z]\w{0,47}$/.test(name))
        throw argumentError(option, name, "names of A-Z a-z 0-9 _, from a letter, up to 48 characters");
  const all = [...dimensions, ...addedDimensions];
  if (new Set(all.map((name) => name.toLowerCase())).size < all.length)
    throw argumentError(
      addedDimensions.length > 0 ? "dimensions and addedDimensions" : "dimensions",
      all.join(", "),
      "names that also differ when case is ignored",
    );
  return { dimensions: Object.freeze(all), addedDimensions: Object.freeze([...addedDimensions]) };
}

function mirrorSettings(mirror: CounterMirror | undefined): CountersSettings["mirror"] {
  if (mirror === undefined) return undefined;
  checkKnown(mirror, ["prefix", "keep"], "mirror");
  const { prefix = "", keep = "2d" } = mirror;
  if (typeof prefix !== "string" || !/^\P{Surrogate}{0,256}$/u.test(prefix))
    throw argumentError("mirror.prefix", prefix, "a string of at most 256 characters, without lone surrogates");
  return { prefix, keepMs: durationMs("mirror.keep", keep, 1000, 366 * 86_400_000) };
}
