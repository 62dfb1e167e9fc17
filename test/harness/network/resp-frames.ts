const LINE_FEED = 10;

/** Where the RESP value that begins at `start` ends (after its last byte), or -1 where bytes are missing. */
function frameEnd(bytes: Buffer, start: number): number {
  const feed = bytes.indexOf(LINE_FEED, start);
  if (feed < 0) return -1;
  const kind = String.fromCharCode(bytes[start]!);
  const count = Number(bytes.toString("latin1", start + 1, feed - 1));
  let end = feed + 1;
  if ("$=!".includes(kind)) {
    if (count >= 0) end += count + 2;
    return end <= bytes.length ? end : -1;
  }
  if (!"*~>%".includes(kind)) return end;
  for (let left = kind === "%" ? count * 2 : count; left > 0; left--) {
    end = end < bytes.length ? frameEnd(bytes, end) : -1;
    if (end < 0) return -1;
  }
  return end;
}

/** Cuts a stream into whole RESP values. */
export class Frames {
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Buffer[] {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    const frames: Buffer[] = [];
    let at = 0;
    while (at < bytes.length) {
      const end = frameEnd(bytes, at);
      if (end < 0) break;
      frames.push(bytes.subarray(at, end));
      at = end;
    }
    this.#rest = bytes.subarray(at);
    return frames;
  }
}

/** The first part of a command, in capitals: *3 $7 EVALSHA ... gives EVALSHA. */
export function commandName(frame: Buffer): string {
  return (/^\*\d+\r\n\$\d+\r\n(\S+)\r\n/.exec(frame.toString("latin1", 0, 64))?.[1] ?? "").toUpperCase();
}

/** The words of a command, which is an array of bulk strings. */
export function commandWords(frame: Buffer): Buffer[] {
  const words: Buffer[] = [];
  let at = frame.indexOf(LINE_FEED) + 1;
  while (at < frame.length) {
    const feed = frame.indexOf(LINE_FEED, at);
    const length = Number(frame.toString("latin1", at + 1, feed - 1));
    words.push(frame.subarray(feed + 1, feed + 1 + length));
    at = feed + 1 + length + 2;
  }
  return words;
}
