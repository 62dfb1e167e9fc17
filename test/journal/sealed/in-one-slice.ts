/** Runs work that comes in slices, all of them at once. */
export function inOneSlice<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
