export interface Line {
  /** From 1, as editors count. */
  readonly number: number;
  /** Without its end (LF or CRLF); null when it is longer than the bound. */
  readonly text: string | null;
}

/**
 * The lines of a stream of UTF-8 bytes, in groups of those that a chunk completes. A byte order mark is dropped. The
 * last line may lack its line feed. A line of more than `maxLength` characters is null.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>, maxLength = 1 << 20): AsyncGenerator<Line[]> {
  const decoder = new TextDecoder("utf-8");
  let number = 0;
  let rest = "";
  let tooLong = false;

  const line = (text: string): Line => {
    number += 1;
    if (tooLong || text.length > maxLength) {
      tooLong = false;
      return { number, text: null };
    }
    return { number, text: text.endsWith("\r") ? text.slice(0, -1) : text };
  };
  const split = (text: string): Line[] => {
    const parts = text.split("\n");
    parts[0] = rest + parts[0];
    rest = parts.pop() as string;
    const lines = parts.map(line);
    if (rest.length > maxLength) {
      rest = "";
      tooLong = true;
    }
    return lines;
  };

  for await (const chunk of chunks) {
    const lines = split(decoder.decode(chunk, { stream: true }));
    if (lines.length > 0) yield lines;
  }
  const lines = split(decoder.decode());
  if (rest !== "" || tooLong) lines.push(line(rest));
  if (lines.length > 0) yield lines;
}
