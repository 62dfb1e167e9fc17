import type { Argument } from "../contract.ts";

/**
 * Encodes a command in Redis' protocol: *count, then $length and the bytes of each part. Strings are sent as UTF-8,
 * numbers as decimal text. Bytes are copied, so the arguments may change after this returns. Adjacent texts are written
 * together, because each write has a fixed cost.
 */
export function encodeCommand(parts: readonly Argument[]): Buffer {
  const texts: (string | Uint8Array)[] = new Array(parts.length);
  const head = `*${parts.length}\r\n`;
  let sizeBytes = head.length;
  const lengths: number[] = new Array(parts.length);
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    const text = typeof part === "number" ? String(part) : part;
    const length = typeof text === "string" ? Buffer.byteLength(text) : text.byteLength;
    texts[i] = text;
    lengths[i] = length;
    sizeBytes += length + 5 + digitCount(length);
  }
  const bytes = Buffer.allocUnsafe(sizeBytes);
  let at = 0;
  let run = head;
  for (let i = 0; i < parts.length; i++) {
    const part = texts[i]!;
    if (typeof part === "string") run += `$${lengths[i]}\r\n${part}\r\n`;
    else {
      at += bytes.write(`${run}$${lengths[i]}\r\n`, at);
      bytes.set(part, at);
      at += part.byteLength;
      run = "\r\n";
    }
  }
  bytes.write(run, at);
  return bytes;
}

function digitCount(value: number): number {
  let digits = 1;
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  return digits;
}
