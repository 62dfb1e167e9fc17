/** Words before the levels of a piece. */
const HEAD = 36;

/** The JavaScript form of assembly/wavelet/wavelet-levels.ts. Addresses count words. Returns the bits that differ. */
export function varying(words: Uint32Array, from: number, count: number): number {
  const first = words[from]!;
  let vary = 0;
  for (let i = 1; i < count; i++) vary |= words[from + i]! ^ first;
  return vary;
}

export function levelOf(words: Uint32Array, piece: number, vary: number, level: number): number {
  return piece + HEAD + (level === 31 ? 0 : bitCount(vary >>> (level + 1))) * (words[piece + 3]! >>> 2);
}

export function writeLevel(words: Uint32Array, piece: number, level: number, keys: number, scratch: number): void {
  const end = keys + words[piece + 2]!;
  let block = levelOf(words, piece, words[piece]!, level);
  let key = keys;
  let zero = keys;
  let one = scratch;
  for (const after = block + (words[piece + 3]! >>> 2); block < after; block += 3) {
    words[block + 2] = one - scratch;
    for (let word = 0; word < 2; word++) {
      const stop = Math.min(end, key + 32);
      let bits = 0;
      for (let place = 0; key < stop; key++, place++) {
        const x = words[key]!;
        const bit = (x >>> level) & 1;
        bits |= bit << place;
        words[zero] = x;
        words[one] = x;
        one += bit;
        zero += bit ^ 1;
      }
      words[block + word] = bits;
    }
  }
  words[piece + 4 + level] = zero - keys;
  words.copyWithin(zero, scratch, one);
}

/** Number of ones among 32 bits (Warren, Hacker's Delight, 5-1). */
function bitCount(x: number): number {
  const pairs = x - ((x >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Number of ones before a place of a level. */
export function onesBefore(words: Uint32Array, blocks: number, place: number): number {
  const at = blocks + 3 * (place >>> 6);
  const ones = words[at + 2]!;
  const mask = (1 << (place & 31)) - 1;
  if ((place & 32) === 0) return ones + bitCount(words[at]! & mask);
  return ones + bitCount(words[at]!) + bitCount(words[at + 1]! & mask);
}
