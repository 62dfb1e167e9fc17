const pool = new Uint32Array(256);
let left = 0;

/** Returns a random u32. Numbers are drawn 256 at a time, because one draw costs as much as a small query. */
export function randomU32(): number {
  if (left === 0) {
    crypto.getRandomValues(pool);
    left = pool.length;
  }
  return pool[--left]!;
}
