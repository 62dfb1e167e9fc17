import type { Redis } from "ioredis";
import { type ChunkHeader, HEADER_BYTES, readHeader } from "../../src/engine/journal/format/chunk.ts";
import { retentionMsOf } from "./plan.ts";

const PAGE = 5000;
const SLACK_MS = 60_000;
/** The keys of a series by lua/README.md, which lists no key that never expires. */
const KEY = /^oriel:\{soak:(\d+)\}(?::(\d+))?$/;

export interface KeyReport {
  keys: number;
  withoutExpiry: number;
  /** Length of all values. */
  bytes: number;
  /** The last instant at which one of them expires. */
  lastExpiryMs: number;
  wrong: string[];
}

/** Checks every key of the server: it belongs to a chunk, and expires as lua/README.md says. */
export async function judgeKeys(redis: Redis): Promise<KeyReport> {
  const report: KeyReport = { keys: 0, withoutExpiry: 0, bytes: 0, lastExpiryMs: 0, wrong: [] };
  let cursor = "0";
  const seen = new Set<string>();
  do {
    const [next, page] = await redis.scan(cursor, "COUNT", PAGE);
    cursor = next;
    const asked = redis.pipeline();
    for (const key of page)
      asked
        .pexpiretime(key)
        .getrangeBuffer(key, 0, HEADER_BYTES - 1)
        .strlen(key);
    const answers = (await asked.exec())!.map(([error, answer]) => {
      if (error) throw error;
      return answer;
    });
    for (const [i, key] of page.entries()) {
      const [expiryMs, header, length] = answers.slice(3 * i, 3 * i + 3) as [number, Buffer, number];
      // Expired between two calls, or scanned twice.
      if (expiryMs === -2 || length === 0 || seen.has(key)) continue;
      seen.add(key);
      report.keys++;
      report.bytes += length;
      if (expiryMs === -1) report.withoutExpiry++;
      report.lastExpiryMs = Math.max(report.lastExpiryMs, expiryMs);
      report.wrong.push(...judgeKey(key, expiryMs, readHeader(header)));
    }
  } while (cursor !== "0");
  return report;
}

/** Complaints about one key. */
export function judgeKey(key: string, expiryMs: number, header: ChunkHeader): string[] {
  const [, index, number] = KEY.exec(key) ?? [];
  if (index === undefined) return [`${key} is no key of a series`];
  if (expiryMs === -1) return [`${key} never expires`];
  const { number: isNumber, chunkMs, lastStampMs, retentionMs } = header;
  const wrong: string[] = [];
  if (number !== undefined && Number(number) !== isNumber) wrong.push(`${key} holds chunk ${isNumber}`);
  if (retentionMs !== retentionMsOf(Number(index))) wrong.push(`${key} keeps ${retentionMs} ms`);
  const wantedMs = Math.ceil((lastStampMs + retentionMs + chunkMs + SLACK_MS) / 1000) * 1000;
  // A closed chunk stays that long after its closing, which is soon after its last event but has no bound.
  const isRight = number === undefined ? expiryMs === wantedMs : expiryMs >= wantedMs;
  if (!isRight) wrong.push(`${key} expires at ${expiryMs}, not at ${wantedMs}`);
  return wrong;
}
