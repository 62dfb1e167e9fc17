/** The stores of `npm test`. `npm run test:all` takes every store that is found. */
const FEW = [
  ...["memory", "ioredis 6", "cluster, ioredis 6", "HTTP"],
  ...["redis, ioredis 6", "redis cluster, ioredis 6", "redis over HTTP"],
];

/** Whether suites run over a store. */
export const isWanted = (store: string): boolean => process.env.ORIEL_ROWS !== "few" || FEW.includes(store);
