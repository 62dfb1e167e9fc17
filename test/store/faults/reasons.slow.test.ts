import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Counters, Limiter, Lock, type OrielError, type Store, slidingWindow } from "../../../src/entries/index.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { holdingTimers } from "../../harness/clock/held-timers.ts";
import { clients, storeOn } from "../contract/clients.ts";
import { type Trouble, troubles } from "./troubled-servers.ts";

const DEADLINE_MS = 5000;
/** Of calls that reject at once. */
const LONG_DEADLINE_MS = 60_000;

/** one write of structures that a program begins with. */
const calls: Record<string, (store: Store) => Promise<unknown>> = {
  'Limiter "l" take': (store) => new Limiter(store, [slidingWindow({ limit: 1, span: "1m" })], { name: "l" }).take("a"),
  'Lock "k" tryLock': (store) => new Lock(store, "k").tryLock(),
  'Counters "c" add': (store) => new Counters(store, "c", { dimensions: ["a"], shards: 1 }).add({ a: "1" }),
};

const stores: Record<string, (url: string, deadline: number) => { store: Store; end(): unknown }> = {
  "a URL": (url, deadline) => {
    const store = redisStore(url, { deadline });
    return { store, end: () => store.close() };
  },
  ...Object.fromEntries(
    Object.entries(clients).map(([name, open]) => [
      name,
      (url: string, deadline: number) => {
        const given = open(url);
        const store = storeOn(given, { deadline });
        return { store, end: () => Promise.resolve(store.close()).then(() => given.end()) };
      },
    ]),
  ),
};

describe.each(Object.keys(troubles))("%s", (name) => {
  let trouble: Trouble;
  beforeAll(async () => {
    trouble = await troubles[name]!();
  });
  afterAll(() => trouble?.end());

  test.concurrent.each(Object.keys(stores))(
    "%s: each structure names the reason, and whether a retry may help",
    async (of) => {
      if (trouble.except !== undefined && of.startsWith(trouble.except)) return;
      const { store, end } = stores[of]!(trouble.url, trouble.atOnce ? LONG_DEADLINE_MS : DEADLINE_MS);
      try {
        await Promise.all(Object.entries(calls).map(([where, call]) => rejects(where, () => call(store), trouble)));
      } finally {
        await end();
      }
    },
  );
});

async function rejects(
  where: string,
  call: () => Promise<unknown>,
  { reported, transient, atOnce, code = "UNAVAILABLE" }: Trouble,
) {
  const failure = () =>
    call().then(
      () => expect.fail(`${where} was answered`),
      (reason: OrielError) => reason,
    );
  const error = await (atOnce ? holdingTimers(LONG_DEADLINE_MS / 2, failure) : failure());
  expect(error.message).toMatch(reported);
  expect(error.message).not.toMatch(/could not be reached|window\/|limiter\/|lock\/|counter\/|queue\//);
  expect(error.message.startsWith(`${where}: `), error.message).toBe(true);
  expect(error.message).toMatch(/\(redis at [^@]+\)$/);
  expect(error, error.message).toMatchObject({ name: "OrielError", code: code ?? "UNAVAILABLE", applied: "no" });
  expect(error.transient, error.message).toBe(transient);
  expect(inspect(error, { depth: 9 }) + JSON.stringify(error)).not.toContain("planted-secret");
}
