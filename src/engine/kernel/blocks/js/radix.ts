// The JS form of assembly/blocks/radix.ts.

const COUNTS = new Uint32Array(512);
let otherIndexes = new Uint16Array(1024);

/** Sorts indexes by the keys that they have, `bits` wide. Equal keys keep their order. */
export function sortIndexes(indexes: Uint16Array, count: number, keys: Uint32Array, bits: number): void {
  if (count > otherIndexes.length) otherIndexes = new Uint16Array(count);
  let source: Uint16Array = indexes;
  let target: Uint16Array = otherIndexes;
  for (let shift = 0; shift < bits; shift += 9) {
    COUNTS.fill(0);
    for (let i = 0; i < count; i++) COUNTS[(keys[source[i]!]! >>> shift) & 511]!++;
    let next = 0;
    for (let digit = 0; digit < 512; digit++) {
      const some = COUNTS[digit]!;
      COUNTS[digit] = next;
      next += some;
    }
    for (let i = 0; i < count; i++) {
      const index = source[i]!;
      target[COUNTS[(keys[index]! >>> shift) & 511]!++] = index;
    }
    [source, target] = [target, source];
  }
  if (source !== indexes) indexes.set(source.subarray(0, count));
}
