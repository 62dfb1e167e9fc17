const stores: Record<string, readonly string[]> = {
  memory: ["memory"],
  redis: ["memory", "ioredis 6", "redis, ioredis 6"],
};
const wanted = stores[process.env.ORIEL_QUICK ?? ""];

/** Whether suites run over a store: `npm run dev` takes memory only, `npm run test:quick` one Redis too. */
export const isWanted = (store: string): boolean => wanted?.includes(store) ?? true;
