/**
 * The seeds of a test of random schedules: `count` from `first` on. ORIEL_SEED replays a single one. ORIEL_SEEDS and
 * ORIEL_FIRST_SEED replace the number and the first.
 */
export function seeds(count: number): { first: number; count: number } {
  const { ORIEL_SEED, ORIEL_SEEDS = count, ORIEL_FIRST_SEED = 1 } = process.env;
  if (ORIEL_SEED !== undefined) return { first: Number(ORIEL_SEED), count: 1 };
  return { first: Number(ORIEL_FIRST_SEED), count: Number(ORIEL_SEEDS) };
}
