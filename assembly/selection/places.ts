// Law: a list of masks of 16 becomes a list of the places of their bits, in order.
// Domain: places below 2^16. Bound: exact; free of branches.
//
//   MASKS: u32 each, the bits in the lower half, the place of bit 0 in the upper; 128 at most
//   PLACES: u16 each; 2048 at most, and 16 bytes more
//   ROWS: row m of 256: the numbers of the bits that are set in m, one byte each

export const MASKS = memory.data(4 * 128 + 16, 16);
export const PLACES = memory.data(2 * 2048 + 16, 16);
const ROWS = memory.data(256 * 8, 16);

/** Returns the end of the places, for the masks from `MASKS` up to `end`. */
export function listPlaces(end: usize): usize {
  if (load<u8>(ROWS, 8 * 255 + 7) === 0) fillRows();
  let to = PLACES;
  for (let mask = MASKS; mask < end; mask += 4) {
    const bits = load<u32>(mask);
    const low = bits & 0xff;
    const high = (bits >> 8) & 0xff;
    const place = i16x8.splat(<i16>(bits >> 16));
    v128.store(to, i16x8.add(place, v128.load8x8_u(ROWS + ((<usize>low) << 3))));
    to += (<usize>popcnt(low)) << 1;
    const next = i16x8.add(place, i16x8.splat(8));
    v128.store(to, i16x8.add(next, v128.load8x8_u(ROWS + ((<usize>high) << 3))));
    to += (<usize>popcnt(high)) << 1;
  }
  return to;
}

/** Computes the table of 2 KiB at the first call, so that it is no part of the download. */
function fillRows(): void {
  for (let mask: u32 = 0; mask < 256; mask++) {
    let to = ROWS + ((<usize>mask) << 3);
    for (let bit: u32 = 0; bit < 8; bit++) if ((mask >> bit) & 1) store<u8>(to++, <u8>bit);
  }
}
