// Law: nothing is allocated here. The host owns all memory from heapBase() upward and passes addresses in.
// Domain: every address is a multiple of 16 except where a file says otherwise.

/** First byte that the module itself does not use (static tables lie below). */
export function heapBase(): usize {
  return __heap_base;
}

/** Bytes that one step of a loop handles: which of the two builds this is. */
export function vectorBytes(): u32 {
  return ASC_FEATURE_SIMD ? 16 : 8;
}

/** Sum of the lane counters in one vector (I: i32 or i64). `scratch`: 16 bytes. */
export function countOf<I>(counters: v128, scratch: usize): u32 {
  v128.store(scratch, counters);
  let total: u32 = 0;
  for (let at: usize = 0; at < 16; at += sizeof<I>()) total += <u32>load<I>(scratch + at);
  return total;
}
