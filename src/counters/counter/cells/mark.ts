import { packStrings } from "../../../store/message-pack.ts";

/**
 * A new mark: a field of a shard that belongs to one producer. Its value is the number of the producer's last batch.
 */
export function newMark(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `w:${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The value of a mark after the batch of this number. Before the first batch the field does not exist. */
export function placeOf(number: number): string {
  return number === 0 ? "" : `${number}`;
}

/** Arguments of `add` that only read. No mark has this value, so the step counts nothing and returns the value. */
export const LOOK = { before: "?", after: "?", total: 0, rows: packStrings([]) };
