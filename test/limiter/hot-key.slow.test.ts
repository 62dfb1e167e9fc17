import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  type Decision,
  fixedWindow,
  gcra,
  Limiter,
  leakyBucket,
  type Policy,
  redisStore,
  slidingWindow,
} from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let server: RedisServer;
let raw: Redis;
let store: Store;
/** What limiters asked the store for: steps, and the calls that they carried. */
let steps: number;
let calls: number;
beforeAll(async () => {
  server = await startRedis();
  raw = new Redis(server.url);
});
beforeEach(async () => {
  await raw.flushall();
  await raw.config("RESETSTAT");
  const plain = redisStore(server.url, { deadline: 20_000, registry: false });
  [steps, calls] = [0, 0];
  store = {
    ...plain,
    run(operation, key, input, options) {
      steps++;
      calls += (input as { calls: number }).calls;
      return plain.run(operation, key, input, options);
    },
  };
});
afterEach(() => store.close());
afterAll(async () => {
  raw?.disconnect();
  await server?.stop();
});

/** Script calls that the server has run since the test began. */
async function requests(): Promise<number> {
  const stats = await raw.info("commandstats");
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}
const several = <Result>(count: number, make: (i: number) => Result) =>
  Array.from({ length: count }, (_, i) => make(i));

const CALLERS = 400;
const ROUNDS = 6;
const LIMIT = 2000;

// How long each of them waits is measured (bench, --only limiters); here, what the server is asked.
test.each([
  ["sliding window", [slidingWindow({ limit: LIMIT, span: "1h" })]],
  ["GCRA and leaky bucket", [gcra({ limit: LIMIT, span: "7d" }), leakyBucket({ capacity: LIMIT, span: "7d" })]],
] as [string, Policy[]][])(
  "T34 400 callers of one key (%s): each permit is taken once, with few requests",
  async (_, policies) => {
    const limiter = new Limiter(store, policies, { name: "hot" });
    const all = await Promise.all(
      several(CALLERS, async () => {
        const own: Decision[] = [];
        for (let i = 0; i < ROUNDS; i++) own.push(await limiter.take("a"));
        return own;
      }),
    );
    const remaining = all.flat().flatMap((each) => (each.allowed ? each.remaining : []));
    expect(remaining.sort((a, b) => b - a)).toEqual(several(LIMIT, (i) => LIMIT - 1 - i));
    const refused = all.flat().filter(({ allowed }) => !allowed);
    expect(refused).toHaveLength(CALLERS * ROUNDS - LIMIT);
    for (const each of refused) expect(each).toMatchObject({ granted: 0, remaining: 0 });
    // A caller's remaining permits never grow, because its calls were decided in order.
    for (const own of all)
      for (let i = 1; i < ROUNDS; i++) expect(own[i]!.remaining).toBeLessThanOrEqual(own[i - 1]!.remaining);
    expect(await requests()).toBeLessThanOrEqual(4 * ROUNDS);
    expect(steps).toBeLessThanOrEqual(4 * ROUNDS);
  },
);

test.each([1, 4])(
  "T42 200 callers in the queues of %i limiters wait for 10 permits per window with few requests",
  async (lines) => {
    const [waiters, permits, span] = [200, 10, 100];
    const policies = [fixedWindow({ limit: permits, span })];
    const limiters = several(lines, () => new Limiter(store, policies, { name: "line" }));
    const order: number[][] = limiters.map(() => []);
    const decisions = await Promise.all(
      several(waiters, async (i) => {
        const decision = await limiters[i % lines]!.acquire("a", { wait: "20s" });
        order[i % lines]!.push(i);
        return decision;
      }),
    );
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(waiters);
    for (const line of order) expect(line).toEqual([...line].sort((a, b) => a - b));
    // Each is asked for once when it passes; besides, the first of a line is denied once a window, and again where its timer
    // was a ms early. If all woke, it were some 2 000.
    const windows = waiters / permits;
    expect(calls).toBeLessThanOrEqual(waiters + 3 * windows * lines);
  },
);
