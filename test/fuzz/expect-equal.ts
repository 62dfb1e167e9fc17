import { isDeepStrictEqual } from "node:util";

/** Like `expect`, but cheap enough for thousands of checks. */
export function expectEqual(what: string, found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted)) throw new Error(`${what}: ${text(found)} in place of ${text(wanted)}`);
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === "bigint" ? `${each}` : each)) ?? String(value);
}
