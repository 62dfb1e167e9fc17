import { type Chunk, parseChunk, parseSealed } from "./journal.ts";

/** A chunk by its bytes. The frames of a sealed one are unknown, so all of its events are one frame. */
export function parseEither(key: string, bytes: Uint8Array): Chunk {
  if (bytes[0] === 1) return parseChunk(bytes);
  const { chunk, events } = parseSealed(bytes);
  return { ...chunk, frames: [{ id: `sealed ${key}`, stampMs: chunk.lastStampMs, events }] };
}

/**
 * Compares a sealed chunk with the raw one that it replaced: it has the same header, and the same events without copies.
 * `idsBefore`: names of frames in the chunks before it. Returns the chunk as its bytes say, what is wrong, and how many copies
 * were dropped.
 */
export function judgeSeal(key: string, raw: Chunk, bytes: Uint8Array, idsBefore: Set<string>) {
  const faults: string[] = [];
  const { chunk, events } = parseSealed(bytes);
  const { frames, ...header } = raw;
  if (JSON.stringify(header) !== JSON.stringify(chunk)) faults.push(`a seal changes the header of ${key}`);
  const seen = new Set(idsBefore);
  const kept = frames.filter(({ id }) => !seen.has(id) && seen.add(id));
  const wanted = kept.flatMap((frame) => frame.events);
  const isSame =
    wanted.length === events.length &&
    wanted.every(({ value, atMs }, i) => value === events[i]!.value && atMs === events[i]!.atMs);
  if (isSame) return { chunk: { ...chunk, frames: kept }, faults, dropped: frames.length - kept.length };
  faults.push(`a seal changes the events of ${key}`);
  return { chunk: parseEither(key, bytes), faults, dropped: 0 };
}
