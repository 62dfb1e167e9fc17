import { packStrings } from "../../store/message-pack.ts";

/** A field of a shard that no other producer has; where it stands is the number of its last batch. */
export function newMark(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `w:${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Where a mark stands after a batch; after none, it is not there. */
export function placeOf(number: number): string {
  return number === 0 ? "" : `${number}`;
}

/** What `add` is given that only asks: no mark ever stands there, so it tells where it stands. */
export const LOOK = { before: "?", after: "?", total: 0, rows: packStrings([]) };
