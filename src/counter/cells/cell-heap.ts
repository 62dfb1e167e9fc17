import type { CellMemory } from "./cell-memory.ts";

/** A Map with its table, which has room for four entries and doubles when it is full. */
export const MAP_BYTES = 192;
const FIRST_ENTRIES = 4;
const ENTRY_BYTES = 28;
const STRING_BYTES = 24;
/** V8 makes a part of a string, or two that are joined, refer to the whole from this length on. */
const SHARING_LENGTH = 13;
const BAR = 0x7c;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** What one more entry made a Map take, which then has so many. */
export function growthOf(entries: number): number {
  const before = entries - 1;
  const wasFull = before >= FIRST_ENTRIES && (before & (before - 1)) === 0;
  return wasFull ? before * ENTRY_BYTES : 0;
}

/** The text in a string of its own, for a caller's may be a part of a request's, and what V8 takes of it. */
export function keptText(text: string): { text: string; bytes: number } {
  if (text.length < SHARING_LENGTH) return { text, bytes: STRING_BYTES + 2 * text.length };
  const bytes = encoder.encode(text);
  // One byte a character only where all are ASCII: decoded, others may take two.
  return { text: decoder.decode(bytes), bytes: STRING_BYTES + text.length * (bytes.length === text.length ? 1 : 2) };
}

/** How many different values each dimension has, by a hash of 32 bits: as good as exact, and it holds no value. */
export function distinctValues(memory: CellMemory, dimensions: number): number[] {
  const found = Array.from({ length: dimensions }, () => new Set<number>());
  for (let cell = 0; cell < memory.length; cell++) {
    const text = memory.textOf(cell);
    let dimension = -1;
    let hash = 0;
    for (const byte of text) {
      if (byte === BAR) {
        if (dimension >= 0) found[dimension]!.add(hash);
        dimension++;
        hash = 0x811c9dc5;
      } else hash = Math.imul(hash ^ byte, 0x01000193);
    }
    found[dimension]!.add(hash);
  }
  return found.map((hashes) => hashes.size);
}
