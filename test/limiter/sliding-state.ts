/** The state of a sliding window in Redis, read and written by the page of stored formats, without the code of the limiter. */

export interface SlidingState {
  /** Ends of a block and of reservations, or 0. */
  untilMs: [blocked: number, reserved: number];
  longestMs: number;
  newestMs: number;
  /** Each ms with permits, the oldest first. */
  records: { ms: number; permits: number }[];
}

export function formOf(value: Buffer): "log" | "ring" {
  const format = value.readUInt16LE(0);
  if (format !== 0x0201 && format !== 0x0202) throw new Error(`the state begins with ${format.toString(16)}`);
  return format === 0x0202 ? "log" : "ring";
}

export function readLog(value: Buffer): SlidingState {
  const [msBytes, totalBytes, count, untilBytes] = [value[2]!, value[3]!, value.readUInt16LE(4), value[6]!];
  const [newestMs, longestMs, used] = [value.readDoubleLE(8), value.readDoubleLE(16), value.readUIntLE(24, 6)];
  const untilMs: [number, number] = untilBytes ? [value.readDoubleLE(30), value.readDoubleLE(38)] : [0, 0];
  const width = msBytes + totalBytes;
  const modulo = (number: number, bytes: number) => ((number % 256 ** bytes) + 256 ** bytes) % 256 ** bytes;
  const uintAt = (at: number, bytes: number) => (bytes ? value.readUIntLE(at, bytes) : 0);
  const at = (i: number) => 30 + untilBytes + i * width;
  if (value.length !== at(count)) throw new Error(`the log has ${value.length} bytes, not ${at(count)}`);
  const lastTotal = uintAt(at(count) - totalBytes, totalBytes);
  let before = 0;
  const records = Array.from({ length: count }, (_, i) => {
    const ms = newestMs - modulo(newestMs - uintAt(at(i), msBytes), msBytes);
    const total = totalBytes ? used - modulo(lastTotal - uintAt(at(i) + msBytes, totalBytes), totalBytes) : i + 1;
    const permits = total - before;
    before = total;
    return { ms, permits };
  });
  if (before !== used) throw new Error(`the records have ${before} permits, the head ${used}`);
  return { untilMs, longestMs, newestMs, records };
}

/** A ring of format 1, as each state was before there were logs. Its totals begin at `before`, its records in slot `slot`. */
export function ringOf({ untilMs, longestMs, newestMs, records }: SlidingState, before = 0, slot = 0): Buffer {
  const slots = Math.max(8, Math.ceil(records.length * 1.5));
  const ring = Buffer.alloc(80 + 12 * slots);
  ring.writeUInt16LE(0x0201, 0);
  for (const [i, ms] of [...untilMs, longestMs].entries()) ring.writeDoubleLE(ms, 8 + 8 * i);
  ring.writeUInt32LE(slots, 32);
  ring.writeUInt32LE(slot % slots, 36);
  ring.writeUInt32LE(records.length, 40);
  let total = before;
  for (const [i, { ms, permits }] of records.entries()) {
    total += permits;
    const at = 80 + ((slot + i) % slots) * 12;
    ring.writeUIntLE(ms, at, 6);
    ring.writeUIntLE(total % 2 ** 48, at + 6, 6);
  }
  for (const [i, number] of [total, before, records[0]?.ms ?? newestMs, newestMs].entries())
    ring.writeDoubleLE(number, 48 + 8 * i);
  return ring;
}

/** The ring that holds what a log does. */
export const ringOfLog = (value: Buffer): Buffer => ringOf(readLog(value), 2 ** 40 + 5, 3);
