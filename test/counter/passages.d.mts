export function passages(
  folder: string,
  worker: number,
  workers: number,
): Generator<[site: string, lane: string, direction: string, at: number, count: number]>;
