// Law: decimals and ordered bits become values in ascending order of their keys (keys.ts).
// Domain: any bytes. Damage gives 0. No access leaves the places of places.ts.
import { BASE, DECIMAL, FORM, field, SAMPLES_BYTES, SHIFT, TOP, UNIT } from "./fields";
import { decodeGroups, decodeSamples } from "./ladder";
import { LOWS, OFFSETS, VALUES } from "./places";

/** Decodes groups `first` to `last` - 1 to OFFSETS and LOWS. Returns the address of their end, or 0 if they are damaged. */
function decodeOffsets(samples: usize, body: usize, count: u32, first: u32, last: u32): usize {
  if (decodeSamples(samples, count, field(TOP)) !== samples + field(SAMPLES_BYTES)) return 0;
  return decodeGroups(body, count, first, last, LOWS, field(SHIFT), OFFSETS);
}

function inGroups(count: u32, first: u32, last: u32): u32 {
  return min<u32>(count, last << 5) - (first << 5);
}

/** Writes the values of some groups to VALUES. `body`: the address of the first of them. Returns the address of their end, or 0. */
export function decodeValues32(samples: usize, body: usize, count: u32, first: u32, last: u32): usize {
  const end = decodeOffsets(samples, body, count, first, last);
  const bytes: usize = inGroups(count, first, last) << 2;
  const base = v128.load32_splat(BASE);
  if (field(FORM) === DECIMAL) {
    // Loaded and not computed, because V8 would compute it again in each round.
    const unit = v128.load64_splat(UNIT);
    for (let at: usize = 0; at < bytes; at += 16) {
      const whole = i32x4.add(base, v128.load(at, OFFSETS));
      const low = f64x2.mul(f64x2.convert_low_i32x4_s(whole), unit);
      const high = f64x2.mul(f64x2.convert_low_i32x4_s(v128.shuffle<i64>(whole, whole, 1, 1)), unit);
      const both = v128.shuffle<i64>(f32x4.demote_f64x2_zero(low), f32x4.demote_f64x2_zero(high), 0, 2);
      v128.store(at, both, VALUES);
    }
    return end;
  }
  for (let at: usize = 0; at < bytes; at += 16) {
    const key = i32x4.add(base, v128.load(at, OFFSETS));
    const flips = v128.or(v128.not(i32x4.shr_s(key, 31)), i32x4.splat(i32.MIN_VALUE));
    v128.store(at, v128.xor(key, flips), VALUES);
  }
  return end;
}

export function decodeValues64(samples: usize, body: usize, count: u32, first: u32, last: u32): usize {
  const end = decodeOffsets(samples, body, count, first, last);
  const bytes: usize = inGroups(count, first, last) << 2;
  const shift = field(SHIFT);
  if (field(FORM) === DECIMAL) {
    const base = v128.load64_splat(BASE);
    const unit = v128.load64_splat(UNIT);
    const step = f64x2.splat(<f64>((<u64>1) << shift));
    for (let at: usize = 0; at < bytes; at += 8) {
      let offset = f64x2.convert_low_i32x4_u(v128.load64_zero(at, OFFSETS));
      if (shift > 0) offset = f64x2.add(f64x2.mul(offset, step), f64x2.convert_low_i32x4_u(v128.load64_zero(at, LOWS)));
      v128.store(at << 1, f64x2.div(f64x2.add(base, offset), unit), VALUES);
    }
    return end;
  }
  const base = load<u64>(BASE);
  for (let at: usize = 0; at < bytes; at += 4) {
    let key = (<u64>load<u32>(at, OFFSETS)) << shift;
    if (shift > 0) key |= <u64>load<u32>(at, LOWS);
    key += base;
    store<i64>(at << 1, <i64>key ^ (~(<i64>key >> 63) | i64.MIN_VALUE), VALUES);
  }
  return end;
}
