import type { BucketName } from "../../../base/calendar.ts";
import { argumentError } from "../../../base/errors.ts";
import { atSite } from "../../../base/site.ts";
import { isStorable, longestValue as longestOf, MAX_START_MS, MIN_START_MS } from "../../counter/format/layout.ts";
import type { CounterShape, RowsQuery } from "../../counter/table.ts";

const BUCKETS: readonly BucketName[] = ["minute", "hour", "day"];
const MAX_NAME = 255;
const MINUTE_MS = 60_000;

/** Maximum UTF-16 units of a value: 255 with up to three dimensions, otherwise 765 divided by the dimensions. */
export function longestValue(shape: CounterShape): number {
  return atSite("longestValue", () => {
    if (!Array.isArray(shape?.dimensions)) throw argumentError("shape", shape, "{ dimensions: names }");
    return longestOf(shape.dimensions.length);
  });
}

/** Maximum length of a value that a process without the added dimensions can have counted. */
function longestCounted({ dimensions, added = 0 }: CounterShape): number {
  return longestOf(dimensions.length - added);
}

const checked = new WeakSet<CounterShape>();

export function checkShape(shape: CounterShape): void {
  if (checked.has(shape)) return;
  const { name, dimensions, added = 0, buckets } = shape;
  const isName = (text: unknown) => isStorable(text, MAX_NAME) && text !== "";
  if (!isName(name)) throw argumentError("shape.name", name, `a text of 1 to ${MAX_NAME} characters, without NUL`);
  if (!Array.isArray(dimensions) || !dimensions.every(isName) || new Set(dimensions).size < dimensions.length)
    throw argumentError("shape.dimensions", dimensions, "different names, of 1 character or more");
  if (!Number.isInteger(added) || added < 0 || added >= Math.max(1, dimensions.length))
    throw argumentError("shape.added", added, "the number of added dimensions, fewer than all");
  if (!Array.isArray(buckets) || buckets.length === 0 || !buckets.every((bucket) => BUCKETS.includes(bucket)))
    throw argumentError("shape.buckets", buckets, `some of ${BUCKETS.join(", ")}`);
  checked.add(shape);
}

/** Throws ARGUMENT if a value of a row cannot be stored. */
export function checkValues(shape: CounterShape, values: readonly unknown[]): void {
  const longest = longestCounted(shape);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    // Most texts are plain and pass this quick check.
    if (typeof value !== "string" || value.length > longest || /[^ -\ud7ff]/.test(value)) checkValue(shape, i, value);
  }
}

/** Throws ARGUMENT if a value cannot be stored. */
function checkValue(shape: CounterShape, dimension: number, value: unknown): void {
  const longest = longestCounted(shape);
  if (!isStorable(value, longest))
    throw argumentError(
      `value of ${shape.dimensions[dimension]}`,
      value,
      `a text of at most ${longest} characters, without NUL and lone surrogates`,
    );
}

export function checkStart(startMs: number): void {
  if (!isStart(startMs))
    throw argumentError("startMs", startMs, "a whole minute in ms since 1970, of the years 1000 to 9999");
}

/** A whole minute that every database can store. */
export function isStart(ms: number): boolean {
  return ms >= MIN_START_MS && ms <= MAX_START_MS && ms % MINUTE_MS === 0;
}

export function checkQuery(shape: CounterShape, query: RowsQuery): void {
  if (query === null || typeof query !== "object")
    throw argumentError("query", query, "{ bucket, fromMs, toMs, values }");
  if (!shape.buckets.includes(query.bucket))
    throw argumentError("query.bucket", query.bucket, `one of ${shape.buckets.join(", ")}`);
  for (const name of ["fromMs", "toMs"] as const) {
    const ms = query[name];
    if (ms !== undefined && !Number.isSafeInteger(ms)) throw argumentError(`query.${name}`, ms, "ms since 1970");
  }
  for (const [name, value] of Object.entries(query.values ?? {})) {
    const dimension = shape.dimensions.indexOf(name);
    if (dimension < 0) throw argumentError("query.values", name, `one of ${shape.dimensions.join(", ")}`);
    checkValue(shape, dimension, value);
  }
}

/** A bound of a query for comparison with starts: rounded up to a second, and clamped to the stored range. */
export function boundMs(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms / 1000) * 1000, MIN_START_MS), MAX_START_MS + MINUTE_MS - 1000);
}
