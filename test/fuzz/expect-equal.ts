import { isDeepStrictEqual } from "node:util";

/** As `expect`, of what is checked some thousand times. */
export function expectEqual(what: string, found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted)) throw new Error(`${what}: ${text(found)} in place of ${text(wanted)}`);
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === "bigint" ? `${each}` : each)) ?? String(value);
}
