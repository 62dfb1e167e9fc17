import type { CellMemory } from "./cell-memory.ts";

/** Bytes of a Map with its table. The table has room for four entries and doubles when it is full. */
export const MAP_BYTES = 192;
const FIRST_ENTRIES = 4;
const ENTRY_BYTES = 28;
const STRING_BYTES = 24;
/** From this length on, V8 lets a substring or a concatenation refer to the original strings. */
const SHARING_LENGTH = 13;
const BAR = 0x7c;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes by which a Map grew when it reached this number of entries. */
export function growthOf(entries: number): number {
  const before = entries - 1;
  const wasFull = before >= FIRST_ENTRIES && (before & (before - 1)) === 0;
  return wasFull ? before * ENTRY_BYTES : 0;
}

/** Copies the text, because a caller's string may keep a whole request alive. Returns the copy and its bytes in V8. */
export function keptText(text: string): { text: string; bytes: number } {
  if (text.length < SHARING_LENGTH) return { text, bytes: STRING_BYTES + 2 * text.length };
  const bytes = encoder.encode(text);
  // One byte per character only if all are ASCII. Other decoded text may take two.
  return { text: decoder.decode(bytes), bytes: STRING_BYTES + text.length * (bytes.length === text.length ? 1 : 2) };
}

/** The number of different values of each dimension, by 32-bit hashes. Nearly exact, and keeps no value in memory. */
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
