import { isUtf8 } from "node:buffer";

export interface Line {
  /** From 1, as editors count. */
  readonly number: number;
  /** Without its end (LF or CRLF) and without byte order marks at its beginning; null if it cannot be read. */
  readonly text: string | null;
  /** Why it cannot be read. */
  readonly fault?: string;
}

const LF = 0x0a;

/**
 * The lines of a stream of UTF-8 bytes, in groups of those that a chunk completes. The last line may lack its line feed.
 * Joined files have a byte order mark in the middle, so each line may begin with some. A line of more than `maxLength`
 * bytes, or with other bytes than UTF-8, has no text.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>, maxLength = 1 << 20): AsyncGenerator<Line[]> {
  let number = 0;
  let pieces: Uint8Array[] = [];
  let pendingBytes = 0;

  const lineOf = (bytes: Buffer, isText = isUtf8(bytes)): Line => {
    number += 1;
    if (bytes.length > maxLength) return { number, text: null, fault: "it is too long" };
    if (!isText) return { number, text: null, fault: "it is not UTF-8 text" };
    const end = bytes.at(-1) === 0x0d ? bytes.length - 1 : bytes.length;
    const text = bytes.toString("utf8", 0, end);
    return { number, text: text.startsWith("\ufeff") ? text.replace(/^\ufeff+/, "") : text };
  };
  /** Bytes of a line that is too long are only counted. */
  const keep = (piece: Uint8Array) => {
    pendingBytes += piece.length;
    if (pendingBytes <= maxLength) pieces.push(piece);
    else pieces = [];
  };
  const taken = (): Buffer => {
    const bytes = pendingBytes > maxLength ? Buffer.alloc(maxLength + 1) : Buffer.concat(pieces);
    pieces = [];
    pendingBytes = 0;
    return bytes;
  };

  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const isText = isUtf8(bytes);
    const lines: Line[] = [];
    let from = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, from)) {
      if (pendingBytes === 0) lines.push(lineOf(bytes.subarray(from, end), isText || undefined));
      else {
        keep(bytes.subarray(from, end));
        lines.push(lineOf(taken()));
      }
      from = end + 1;
    }
    keep(bytes.subarray(from));
    if (lines.length > 0) yield lines;
  }
  if (pendingBytes > 0) yield [lineOf(taken())];
}
