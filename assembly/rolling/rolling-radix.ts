// Law: a stable sort of pairs by two neighbouring digits of their parts, counted from an origin.
// Domain: any count below 2^29, digits of at most 11 bits. Bound: exact; each pair is moved twice.
// Source: Knuth TAOCP 3, 5.2.5.
//
//   pairs, scratch: u64, index in the low half, part in the high one      histograms: 2 * 2048 u32

/** 11 bits: the first-level caches hold 2048 places that are written to in turn. */
export const DIGIT_BITS: u32 = 11;
/** Bytes of a histogram. */
export const HISTOGRAM: usize = 8192;

/** The sorted pairs end up in `pairs` again. */
export function sortByTwo(
  pairs: usize,
  bytes: usize,
  scratch: usize,
  histograms: usize,
  origin: u32,
  by: u32,
  low: u32,
  high: u32,
): void {
  clear(histograms, low, high);
  const lowMask: u32 = (1 << low) - 1;
  const highMask: u32 = (1 << high) - 1;
  for (let p = pairs, end = pairs + bytes; p < end; p += 8) {
    const digits = (load<u32>(p, 4) - origin) >> by;
    tally(histograms, digits & lowMask);
    tally(histograms + HISTOGRAM, (digits >> low) & highMask);
  }
  scatter(pairs, bytes, histograms, scratch, origin, by, low);
  scatter(scratch, bytes, histograms + HISTOGRAM, pairs, origin, by + low, high);
}

/** Moves the pairs by one digit, whose histogram is ready. */
export function scatter(
  source: usize,
  bytes: usize,
  histogram: usize,
  target: usize,
  origin: u32,
  by: u32,
  bits: u32,
): void {
  startPlaces(histogram, bits, target);
  const mask: u32 = (1 << bits) - 1;
  for (let p = source, end = source + bytes; p < end; p += 8) {
    const pair = load<u64>(p);
    put(histogram, ((<u32>(pair >> 32) - origin) >> by) & mask, pair);
  }
}

export function clear(histograms: usize, low: u32, high: u32): void {
  memory.fill(histograms, 0, (<usize>4) << low);
  memory.fill(histograms + HISTOGRAM, 0, (<usize>4) << high);
}

export function tally(histogram: usize, digit: u32): void {
  const slot = histogram + ((<usize>digit) << 2);
  store<u32>(slot, load<u32>(slot) + 1);
}

/** Turns the count of each digit into the place of its first pair. */
export function startPlaces(histogram: usize, bits: u32, target: usize): void {
  let next: usize = target;
  for (let slot = histogram, end = histogram + ((<usize>4) << bits); slot < end; slot += 4) {
    const bytes = load<u32>(slot) << 3;
    store<u32>(slot, next);
    next += bytes;
  }
}

/** Writes a pair to its digit's next place. */
export function put(histogram: usize, digit: u32, pair: u64): void {
  const slot = histogram + ((<usize>digit) << 2);
  const at = load<u32>(slot);
  store<u64>(at, pair);
  store<u32>(slot, at + 8);
}
