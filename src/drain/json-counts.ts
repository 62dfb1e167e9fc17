import { jsonCount } from "../counter/row.ts";

/**
 * The same object, which JSON.stringify takes although counts of it are bigints: a number up to 2^53 - 1, above it decimal
 * text. What does so is no property that is listed, copied or compared.
 */
export function withJsonCounts<T extends object>(counts: T): T {
  return Object.defineProperty(counts, "toJSON", { value: toJSON, enumerable: false });
}

function toJSON(this: object): object {
  const entries = Object.entries(this);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === "bigint" ? jsonCount(value) : value]),
  );
}
