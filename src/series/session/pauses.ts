/** Between two tries of what fails for the store. */
export const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

export function longer(pauseMs: number): number {
  return Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
}
