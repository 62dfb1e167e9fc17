// Law: sorts keys above bit 10 by their indexes below it; equal keys keep their order. Nine bits a pass.
import { COUNTS, KEYS, OTHER_KEYS } from "./places";

/** Sorts `count` u64 at KEYS by `bits` bits from bit 10 on. Returns the address of the result. */
export function sortKeys(count: u32, bits: u32): usize {
  let source: usize = KEYS;
  let target: usize = OTHER_KEYS;
  for (let shift: u32 = 10; shift < bits + 10; shift += 9) {
    memory.fill(COUNTS, 0, 2048);
    const end = source + (count << 3);
    for (let at = source; at < end; at += 8) {
      const slot = slotOf(load<u64>(at), shift);
      store<u32>(slot, load<u32>(slot) + 8);
    }
    let next = <u32>target;
    for (let slot = COUNTS; slot < COUNTS + 2048; slot += 4) {
      const bytes = load<u32>(slot);
      store<u32>(slot, next);
      next += bytes;
    }
    for (let at = source; at < end; at += 8) {
      const key = load<u64>(at);
      const slot = slotOf(key, shift);
      const place = load<u32>(slot);
      store<u64>(place, key);
      store<u32>(slot, place + 8);
    }
    const swapped = source;
    source = target;
    target = swapped;
  }
  return source;
}

function slotOf(key: u64, shift: u32): usize {
  return COUNTS + ((<usize>((key >> shift) & 511)) << 2);
}
