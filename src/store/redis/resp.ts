import type { Argument } from "../contract.ts";

/** Up to this length a text is written by a loop, which is faster than a call of Buffer. */
const MAX_LOOPED = 64;
/** The mark, digits and line ends around a part. */
const FRAME_BYTES = 16;
const ARRAY = 0x2a;
const BULK = 0x24;

const NONE: readonly string[] = [];

/**
 * Encodes a command of all these parts in Redis' protocol: *count, then $length and the bytes of each part. Strings are sent
 * as UTF-8, numbers as decimal text. Bytes are copied, so the arguments may change after this returns.
 */
export function encodeCommand(
  words: readonly Argument[],
  keys: readonly string[] = NONE,
  args: readonly Argument[] = NONE,
): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_BYTES + maxBytesOf(words) + maxBytesOf(keys) + maxBytesOf(args));
  let at = writeHead(bytes, 0, ARRAY, words.length + keys.length + args.length);
  at = writeParts(bytes, at, words);
  at = writeParts(bytes, at, keys);
  at = writeParts(bytes, at, args);
  return bytes.subarray(0, at);
}

function writeParts(bytes: Buffer, from: number, parts: readonly Argument[]): number {
  let at = from;
  for (const part of parts) {
    if (typeof part === "object") {
      at = writeHead(bytes, at, BULK, part.length);
      bytes.set(part, at);
      at = writeEnd(bytes, at + part.length);
    } else at = writeText(bytes, at, typeof part === "number" ? String(part) : part);
  }
  return at;
}

function maxBytesOf(parts: readonly Argument[]): number {
  let maxBytes = 0;
  for (const part of parts) {
    maxBytes += FRAME_BYTES;
    if (typeof part === "object") maxBytes += part.length;
    else if (typeof part === "number") maxBytes += 24;
    else maxBytes += part.length > MAX_LOOPED ? Buffer.byteLength(part) : 3 * part.length;
  }
  return maxBytes;
}

function writeText(bytes: Buffer, at: number, text: string): number {
  if (text.length <= MAX_LOOPED) {
    const from = writeHead(bytes, at, BULK, text.length);
    let i = 0;
    for (; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) break;
      bytes[from + i] = code;
    }
    if (i === text.length) return writeEnd(bytes, from + i);
  }
  const length = Buffer.byteLength(text);
  const from = writeHead(bytes, at, BULK, length);
  bytes.write(text, from);
  return writeEnd(bytes, from + length);
}

/** Writes the mark and the number. Returns the offset after them. */
function writeHead(bytes: Buffer, at: number, mark: number, number: number): number {
  let digits = 1;
  for (let rest = number; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  bytes[at] = mark;
  let rest = number;
  for (let i = at + digits; i > at; i--) {
    bytes[i] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  return writeEnd(bytes, at + digits + 1);
}

function writeEnd(bytes: Buffer, at: number): number {
  bytes[at] = 0x0d;
  bytes[at + 1] = 0x0a;
  return at + 2;
}
