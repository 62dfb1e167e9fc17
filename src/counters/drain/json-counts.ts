import { jsonCount } from "../counter/row.ts";

/**
 * Makes an object with bigint counts work with JSON.stringify: a number up to 2^53 - 1, and decimal text above it. The
 * added method is not enumerable, so it is not listed, copied or compared.
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
