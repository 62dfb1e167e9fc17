import { inThisContext } from "../../base/async/context.ts";
import { type BucketName, checkBuckets } from "../../base/calendar.ts";
import { argumentError, checkKnown, wholeNumber } from "../../base/errors.ts";
import { type Announced, fn, given, type Schema, type SettingsOf, settingsOf, text } from "../../base/options.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import type { CounterValues } from "./cells/cells.ts";
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

const MAX_DIMENSIONS = 16;

export const COUNTERS = {
  dimensions: [given<readonly string[]>],
  addedDimensions: [given<readonly string[]>, []],
  buckets: [given<readonly BucketName[]>, ["minute", "hour", "day"]],
  timeZone: [text, "UTC", "the name of a time zone"],
  shards: [wholeNumber, 64, 1, MAX_SHARDS],
  replicas: [replicasOf, 0],
  mirror: [mirrorOf],
  onLost: [fn<NonNullable<CountersOptions["onLost"]>>, () => {}],
} as const satisfies Schema<CountersOptions>;
/** Beside its shape, which all processes must share. */
export type AnnouncedCounters = Announced<typeof COUNTERS, "dimensions" | "buckets" | "shards" | "mirror" | "onLost">;
const PREFIX = "a string of at most 256 characters, without lone surrogates";
const MIRROR = {
  prefix: [text, "", PREFIX, /^\P{Surrogate}{0,256}$/u],
  keep: [durationMs, 172_800_000, 1000, 366 * 86_400_000],
} as const satisfies Schema<CounterMirror>;

export function countersSettings(options: CountersOptions) {
  const settings = settingsOf(COUNTERS, options);
  const { buckets, onLost } = settings;
  return {
    ...settings,
    ...dimensionSettings(settings),
    buckets: Object.freeze(checkBuckets(buckets)),
    onLost: inThisContext(onLost),
  };
}

export function replicasOf(argument: string, replicas: number): number {
  if (!Number.isInteger(replicas) || replicas < 0) throw argumentError(argument, replicas, "a whole number, 0 or more");
  return replicas;
}

/** All dimensions. The added ones come last. */
function dimensionSettings({ dimensions, addedDimensions }: SettingsOf<typeof COUNTERS>) {
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

function mirrorOf(argument: string, mirror: CounterMirror | undefined) {
  return mirror === undefined ? undefined : settingsOf(MIRROR, mirror, argument);
}

/** Options of `Counters.add`: how many events, and when they happened. */
export interface AddOptions {
  /** The number of events: a whole number from 1 to 2^53 - 1. Default 1. */
  count?: number | undefined;
  /** The time of the event: ms since 1970, or a Date. Default: now, by this process's clock. */
  at?: number | Date | undefined;
}

/** An event of a source that can be replayed. */
export interface CountedEvent<Dimension extends string = string> extends AddOptions {
  values: CounterValues<Dimension>;
}

const ADD_OPTIONS = ["values", "count", "at"];

/** Also checks an event, which has `values` too. */
function checkAdd(options: AddOptions): void {
  let isKnown = options !== null && typeof options === "object";
  for (const name in options) isKnown &&= ADD_OPTIONS.includes(name);
  if (!isKnown) checkKnown(options, ["count", "at"]);
}

/** Throws ARGUMENT. */
export function countOf(options: number | AddOptions | undefined): number {
  if (options !== undefined && typeof options !== "number") checkAdd(options);
  const count = typeof options === "number" ? options : (options?.count ?? 1);
  if (!Number.isSafeInteger(count) || count < 1)
    throw argumentError("count", count, "a whole number from 1 to 2^53 - 1");
  return count;
}
