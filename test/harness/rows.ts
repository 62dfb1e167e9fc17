/** The stores of `npm test`. */
const FEW = [
  ...["memory", "ioredis 6", "cluster, ioredis 6", "HTTP"],
  ...["redis, ioredis 6", "redis cluster, ioredis 6", "redis over HTTP"],
];

export const isFew = (store: string): boolean => FEW.includes(store);

/**
 * Whether suites run over a store: in `npm test` over few of them, and in `npm run test:all` over every one that is found, or
 * over the rest, where `npm test` has passed on the same files.
 */
export function isWanted(store: string): boolean {
  const { ORIEL_ROWS } = process.env;
  return ORIEL_ROWS === undefined || isFew(store) === (ORIEL_ROWS === "few");
}
