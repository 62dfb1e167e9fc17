import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OrielError, Series } from "../../../src/entries/index.ts";
import { httpStore } from "../../../src/store/http/http.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { type Fault, type RestServer, startRest } from "../../harness/servers/rest-server.ts";
import { Random } from "../../simulator/world/random.ts";

let server: RedisServer;
let rest: RestServer;
beforeAll(async () => {
  server = await startRedis();
  rest = await startRest(server.url);
});
afterAll(async () => {
  await rest.stop();
  await server.stop();
});

const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
const FAULTS: Fault[] = [
  { cut: "after it was run" },
  { cut: "before it is run" },
  { answer: "<html>" },
  { status: 503 },
  { status: 429 },
];

test(`acknowledged events count once while a fifth of the replies is lost (seed ${seed})`, async () => {
  const random = new Random(seed);
  const open = () => httpStore({ url: rest.url, token: rest.token, deadline: 5000 });
  const stores = [open(), open(), open()];
  const writers = stores.map((store) => new Series(store, "api", { retention: "10m", values: "float64" }));
  rest.faultOf = () => (random.chance(0.2) ? random.pick(FAULTS) : undefined);
  const certain: number[] = [];
  const uncertain: number[] = [];
  let next = 0;
  for (let round = 0; round < 60; round++) {
    const calls = writers.flatMap((writer) => {
      const values = Array.from({ length: random.int(1, 4) }, () => next++);
      const call = values.length === 1 ? writer.record(values[0]!) : writer.recordMany(values);
      return call.then(
        () => void certain.push(...values),
        (error: unknown) => {
          expect(error).toBeInstanceOf(OrielError);
          if ((error as OrielError).applied === "unknown") uncertain.push(...values);
        },
      );
    });
    await Promise.all(calls);
    if (random.chance(0.1)) await flushScripts();
  }
  rest.faultOf = undefined;
  expect(rest.requests.length).toBeGreaterThan(150);

  const reader = open();
  const seen = await new Series(reader, "api", { retention: "10m", values: "float64" }).stats({ span: "10m" });
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  // All of it repeats within five seconds; a machine that stood still for so long says honestly that it does not know.
  expect(seen.count).toBeGreaterThanOrEqual(certain.length);
  expect(seen.count).toBeLessThanOrEqual(certain.length + uncertain.length);
  if (uncertain.length === 0) expect(seen.sum).toBe(sum(certain));
  for (const store of [...stores, reader]) await store.close();
});

async function flushScripts() {
  const client = new Redis(server.url);
  await client.script("FLUSH");
  client.disconnect();
}
