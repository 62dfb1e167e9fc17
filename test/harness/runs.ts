/**
 * The part of their random programs that suites run. A file that runs the suites of others again lowers it for its own time.
 */
export const part = { ofRuns: 1 };

/** This number of runs, or the part of them. */
export function runs(count: number): number {
  return Math.max(1, Math.ceil(count * part.ofRuns));
}

/** The bound that all runs together must exceed. A part of them may by chance see much less than its share. */
export function seen(count: number): number {
  return part.ofRuns === 1 ? count : Math.floor((count * part.ofRuns) / 4) - 1;
}
