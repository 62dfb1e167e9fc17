import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findValkey } from "../../../scripts/find-programs.mjs";
import { DelayQueue } from "../../../src/queue/delay-queue.ts";
import type { Script } from "../../../src/store/contract.ts";
import { asciiText } from "../../../src/store/http/ascii.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { functions, scripts } from "../../../src/store/redis/scripting.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";

const generated = new URL("../../../src/generated/scripts/", import.meta.url).pathname;

/** Every step that travels to a server, by its path. */
async function allSteps(): Promise<[string, Script][]> {
  const files = readdirSync(generated).filter((file) => file !== "store.ts");
  const rooms = await Promise.all(
    files.map(async (file) => {
      const scripts: Record<string, Script> = await import(/* @vite-ignore */ join(generated, file));
      return Object.entries(scripts).map(([name, script]): [string, Script] => [
        `${file.slice(0, -3)}/${name}`,
        script,
      ]);
    }),
  );
  return rooms.flat();
}

const steps = await allSteps();
const valkey = findValkey();

describe.each([
  ["Redis", undefined],
  ["Valkey", valkey],
])("on %s", (name, program) => {
  if (name === "Valkey" && !program) {
    test.skip("every step loads (no valkey-server here)", () => {});
    return;
  }
  let server: RedisServer;
  let raw: Redis;
  beforeAll(async () => {
    server = await startRedis({ ...(program && { server: program }) });
    raw = new Redis(server.url);
  });
  afterAll(async () => {
    raw.disconnect();
    await server.stop();
  });
  const load = ([command = "", ...words]: string[]) => raw.call(command, ...words);

  test.each(steps)("%s loads as a script, as one for ASCII arguments, and as a function", async (_name, script) => {
    expect(await load(scripts.loading(script))).toBe(scripts.nameOf(script));
    expect(await load(["SCRIPT", "LOAD", asciiText(script.text)])).toMatch(/^[0-9a-f]{40}$/);
    expect(await load(functions.loading(script))).toBe(functions.nameOf(script));
  });

  test("the memory that functions keep between calls is bounded", async () => {
    const store = redisStore(server.url, { scripting: "functions" });
    const queue = new DelayQueue<string>(store, "q", { shards: 1 });
    const addMany = (from: number) =>
      queue.addBulk(Array.from({ length: 5000 }, (_, i) => ({ payload: "p", at: 4_102_444_800_000 + from + i })));
    const vmBytes = async () => Number(/used_memory_vm_functions:(\d+)/.exec(await raw.info("memory"))?.[1]);
    await addMany(0);
    const before = await vmBytes();
    for (let round = 1; round <= 6; round++) await addMany(5000 * round);
    expect(await vmBytes()).toBeLessThan(before + 1_000_000);
    await store.close();
  });
});
