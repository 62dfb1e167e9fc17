import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findPython } from "../../scripts/find-programs.mjs";
import { LockedWindow, redisStore, type Store } from "../../src/entries/index.ts";
import { startRedis } from "../harness/servers/redis-server.ts";

const PROGRAM = fileURLToPath(new URL("locked_window.py", import.meta.url));
const python = findPython("numpy");
if (!python) console.log("skipped: exchange with NumPy: no Python with NumPy; `npm run test:all` unpacks one");
const SPAN_MS = 60_000;

describe.skipIf(!python)("a window shared with a NumPy program", () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  let store: Store;
  let raw: Redis;
  beforeAll(async () => {
    server = await startRedis({ tcp: true });
    store = redisStore(server.url);
    raw = new Redis(server.url);
  });
  afterAll(async () => {
    await store.close();
    raw.disconnect();
    await server.stop();
  });

  function numpyAdds(key: string, value: number, form: "bytes" | "text") {
    const run = spawnSync(python!, [PROGRAM, String(server.port), key, String(SPAN_MS), String(value), form], {
      encoding: "utf8",
    });
    expect(run.stderr).toBe("");
    return JSON.parse(run.stdout) as unknown;
  }

  test("as bytes: each reads the other's writes, and both have the same numbers bit for bit", async () => {
    const window = new LockedWindow(store, "exchange", { span: SPAN_MS });
    const key = "sw_counter_bytes:{exchange}";
    for (const value of [3.3, 1e-3, 12.25, 7.7]) {
      await window.addAndGetStats(value * 1.1);
      const theirs = numpyAdds(key, value, "bytes");
      expect(await window.stats()).toEqual(theirs);
    }
    expect((await window.stats()).count).toBe(8);
    const [times, values] = await raw.hmgetBuffer(key, "timestamps", "values");
    expect([times!.length, values!.length]).toEqual([64, 32]);
  });

  test("as base64 text: it is recognised, and replaced by bytes in the next step", async () => {
    const window = new LockedWindow(store, "listing", { span: SPAN_MS });
    const key = "sw_counter_bytes:{listing}";
    numpyAdds(key, 5.1, "text");
    const theirs = numpyAdds(key, 6.2, "text");
    expect(await raw.hget(key, "values")).toMatch(/^[A-Za-z0-9+/]+=*$/);
    expect(await window.stats()).toEqual(theirs);
    expect((await window.addAndGetStats(1.5)).count).toBe(3);
    expect((await raw.hgetBuffer(key, "timestamps"))!.length).toBe(24);
    const last = numpyAdds(key, 2, "bytes");
    expect(await window.stats()).toEqual(last);
  });
});
