/** The key of the bits of an f32 that is no NaN. Keys are u32 in the order of the numbers; -0 is before +0. */
export function keyOfBits(bits: number): number {
  return (bits ^ ((bits >> 31) | 0x80000000)) >>> 0;
}

/** The bits of the f32 with this key. */
export function bitsOfKey(key: number): number {
  return key ^ (~(key >> 31) | 0x80000000);
}

/** The JavaScript form of assembly/keys.ts, on 32-bit words. An f64 has two words, the low one first. */
export function encode(words: Uint32Array, stride: number): void {
  if (stride === 1) {
    for (let i = 0; i < words.length; i++) {
      let bits = words[i]!;
      if ((bits & 0x7fffffff) > 0x7f800000) bits = 0x7fc00000;
      words[i] = keyOfBits(bits);
    }
    return;
  }
  for (let i = 0; i < words.length; i += 2) {
    let low = words[i]!;
    let high = words[i + 1]!;
    const size = high & 0x7fffffff;
    if (size > 0x7ff00000 || (size === 0x7ff00000 && low !== 0)) {
      low = 0;
      high = 0x7ff80000;
    }
    const sign = high >> 31;
    words[i] = low ^ sign;
    words[i + 1] = high ^ (sign | 0x80000000);
  }
}

/** Converts the keys in `source` back to floats in `words`, which may be the same array. */
export function decode(source: Uint32Array, words: Uint32Array, stride: number): void {
  for (let i = 0; i < words.length; i += stride) {
    const top = source[i + stride - 1]!;
    const negative = ~(top >> 31);
    if (stride === 2) words[i] = source[i]! ^ negative;
    words[i + stride - 1] = top ^ (negative | 0x80000000);
  }
}
