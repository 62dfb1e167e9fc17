// Law: for each event, the first event of the window that ends at it. That is the first event with t > cutoff (t >= cutoff
//      when `both`), or the event itself. The cutoff is the event's time minus the span. Stops before an event whose time
//      is less than the previous one or not finite, and before a start outside the trail.
// Domain: i64 times of the events and the trail span less than 2^63 ms.
// Bound: exact for i64; f64 cutoffs are rounded once. Each pointer moves once an event, whatever the size of the window.
//      Times are read in pieces.
//
//   lead: times, the one before event `done` too      trail: times from event `start` on      out: u32 an event
//   tally: 0 done   4 start   8 fewest   12 most events of a window      u32 each, read and written

/** Events are numbered from `from`, the number of the first event in `lead`. */
export function startsF64(
  lead: usize,
  count: u32,
  from: u32,
  trail: usize,
  trailed: u32,
  spanMs: f64,
  both: bool,
  out: usize,
  tally: usize,
): void {
  scan<f64>(lead, count, from, trail, trailed, <f64>spanMs, both, out, tally);
}

/** Events are numbered from `from`, the number of the first event in `lead`. */
export function startsI64(
  lead: usize,
  count: u32,
  from: u32,
  trail: usize,
  trailed: u32,
  spanMs: f64,
  both: bool,
  out: usize,
  tally: usize,
): void {
  scan<i64>(lead, count, from, trail, trailed, <i64>spanMs, both, out, tally);
}

function scan<T>(
  lead: usize,
  count: u32,
  from: u32,
  trail: usize,
  trailed: u32,
  span: T,
  both: bool,
  out: usize,
  tally: usize,
): void {
  let i = load<u32>(tally);
  let fewest = load<u32>(tally, 8);
  let most = load<u32>(tally, 12);
  const end = trail + ((<usize>trailed) << 3);
  let at = trail;
  let earlier = from + i - load<u32>(tally, 4);
  let before = load<T>(lead + ((<usize>max<i32>(i - 1, 0)) << 3));
  let oldest = load<T>(trail);
  for (; i < count; i++, earlier++) {
    const now = load<T>(lead + ((<usize>i) << 3));
    if (!(now >= before)) break;
    if (isFloat<T>() && now - now !== 0) break;
    before = now;
    for (; earlier !== 0 && at !== end && isOutside<T>(oldest, now, span, both); earlier--) {
      at += 8;
      oldest = load<T>(at);
    }
    if (at === end) break;
    store<u32>(out + ((<usize>i) << 2), from + i - earlier);
    fewest = min<u32>(fewest, earlier + 1);
    most = max<u32>(most, earlier + 1);
  }
  store<u32>(tally, i);
  store<u32>(tally, load<u32>(tally, 4) + <u32>((at - trail) >> 3), 4);
  store<u32>(tally, fewest, 8);
  store<u32>(tally, most, 12);
}

/** Compares i64 times by their difference, since a cutoff may overflow. Times are whole ms, so `both` adds one to the span. */
function isOutside<T>(oldest: T, now: T, span: T, both: bool): bool {
  if (isFloat<T>()) return oldest < now - span || (!both && oldest === now - span);
  return now - oldest >= (both ? span + 1 : span);
}
