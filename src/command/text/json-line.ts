import { safeJson } from "./safe-text.ts";

/** The value as JSON on one line that controls no terminal. NaN and infinities are null, bytes are base64. */
export function jsonLine(value: unknown): string {
  return `${safeJson(JSON.stringify(value, (_key, each) => plain(each)))}\n`;
}

/** What JSON has no form for. A large whole number is a text. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString("base64") };
  if (typeof value !== "bigint") return value;
  const isExact = value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER);
  return isExact ? Number(value) : `${value}`;
}
