// The JS form of assembly/blocks/bits.ts.

const WORD_BYTES = 4;

export function bitsOf(x: number): number {
  return 32 - Math.clz32(x);
}

/** Reads `width` bits, 0 to 32, from the bit `bit` on. */
export function getBits(view: DataView, bit: number, width: number): number {
  const at = bit >> 3;
  const down = bit & 7;
  let bits = view.getUint32(at, true) >>> down;
  if (down + width > 32) bits |= view.getUint8(at + WORD_BYTES) << (32 - down);
  return width === 32 ? bits >>> 0 : bits & ((1 << width) - 1);
}

/** Sets `width` bits that are 0. `value` is below 2^width. */
export function putBits(view: DataView, bit: number, width: number, value: number): void {
  const at = bit >> 3;
  const down = bit & 7;
  view.setUint32(at, view.getUint32(at, true) | (value << down), true);
  if (down + width > 32) view.setUint8(at + WORD_BYTES, view.getUint8(at + WORD_BYTES) | (value >>> (32 - down)));
}

/** Packs numbers to bytes that are 0. Returns the end, a whole byte. */
export function pack(
  numbers: Uint32Array | Uint16Array,
  from: number,
  count: number,
  width: number,
  view: DataView,
  at: number,
): number {
  return packAbove(numbers, from, count, 0, width, view, at);
}

/** The same of the low `width` bits of numbers less `first`. */
export function packAbove(
  numbers: Uint32Array | Uint16Array,
  from: number,
  count: number,
  first: number,
  width: number,
  view: DataView,
  at: number,
): number {
  const mask = width === 32 ? -1 : (1 << width) - 1;
  // Whole words are written, because a write costs more than a shift.
  let held = 0;
  let bits = 0;
  let word = at;
  for (let i = from; i < from + count; i++) {
    const rest = (numbers[i]! - first) & mask;
    held |= rest << bits;
    bits += width;
    if (bits < 32) continue;
    view.setUint32(word, held, true);
    word += WORD_BYTES;
    bits -= 32;
    held = bits === 0 ? 0 : rest >>> (width - bits);
  }
  view.setUint32(word, held, true);
  return at + ((count * width + 7) >> 3);
}
