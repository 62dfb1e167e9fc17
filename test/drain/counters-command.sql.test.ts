import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { Database } from "node-sqlite3-wasm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Counters, DrainService, redisStore } from "../../src/entries/index.ts";
import { sqliteSink } from "../../src/entries/sql.ts";
import { command } from "../cli/command.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";

const folder = mkdtempSync(join(tmpdir(), "oriel-doctor-"));
const file = join(folder, "counts.db");
const drivers = fileURLToPath(new URL(".", import.meta.url));
let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (what: string, ...more: string[]) => {
  const where = ["--redis", server.url, "--sql", `sqlite:${file}`, "--drivers", drivers];
  return command(["counters", what, "flow", ...where, "--dimensions", "site", "--shards", "2", ...more]);
};

/** Counts and drains, with a connection to the database that is closed again. */
async function work(events: number, isDrained: boolean): Promise<bigint> {
  const store = redisStore(server.url);
  const database = new Database(file);
  try {
    const flow = new Counters(store, "flow", { dimensions: ["site"], shards: 2 });
    const sink = sqliteSink(database);
    await sink.createTables(flow.shape);
    for (let i = 0; i < events; i++) await flow.add({ site: `s${i}` });
    if (isDrained) await new DrainService({ counters: flow, sink }).drainOnce();
    const rows = await flow.read({ table: sink, bigint: true }).catch(() => []);
    return rows.reduce((sum, { count }) => sum + count, 0n);
  } finally {
    await store.close();
    database.close();
  }
}

test("a counter whose Redis lost its data is shown; it is repaired with --yes only", async () => {
  await work(10, true);
  expect(await run("doctor")).toMatchObject({ status: 0, stdout: expect.stringContaining("all 2 shards match") });
  const raw = new Redis(server.url);
  await raw.flushall();
  await work(10, false);
  const shown = await run("doctor", "--json");
  expect(shown.status).toBe(1);
  expect(
    shown.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { shard: 0, verdict: "lost", storeGeneration: 0, tableGeneration: 1 },
    { shard: 1, verdict: "lost", storeGeneration: 0, tableGeneration: 1 },
    { key: "oriel:{flow}:shape", verdict: "fits", note: "" },
  ]);
  const before = await raw.hgetall("oriel:{flow:0}:counts");
  expect(await run("rebase")).toMatchObject({
    status: 1,
    stdout: expect.stringContaining("nothing was changed: --yes"),
  });
  expect(await raw.hgetall("oriel:{flow:0}:counts")).toEqual(before);
  expect(await run("rebase", "--yes")).toMatchObject({ status: 0, stdout: expect.stringContaining("2 of 2 shards") });
  expect(await run("doctor")).toMatchObject({ status: 0 });
  expect(await work(0, true)).toBe(20n);
  raw.disconnect();
});

test("a doctor that lacks an added dimension changes nothing and names the missing option", async () => {
  const store = redisStore(server.url);
  const database = new Database(file);
  const layout = "1|2|minute|UTC|site|+colour";
  try {
    const flow = new Counters(store, "flow", { dimensions: ["site"], addedDimensions: ["colour"], shards: 2 });
    for (let i = 0; i < 10; i++) await flow.add({ site: `s${i}`, colour: "red" });
  } finally {
    await store.close();
    database.close();
  }
  const raw = new Redis(server.url);
  const before = await raw.hgetall("oriel:{flow:0}:counts");
  for (const what of [["doctor"], ["rebase"], ["rebase", "--set-aside", "--yes"]]) {
    const { status, stdout } = await run(what[0]!, ...what.slice(1));
    expect(status).toBe(1);
    expect(stdout).toContain(`layout (oriel:{flow}:shape): other-layout: ${layout}: pass its added dimensions`);
    expect(stdout).toContain("other-layout");
    expect(stdout).not.toContain("needs --");
  }
  expect(await raw.hgetall("oriel:{flow:0}:counts")).toEqual(before);
  expect(await raw.keys("*aside*")).toEqual([]);
  expect(await run("doctor", "--added-dimensions", "colour")).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(`layout (oriel:{flow}:shape): ${layout}\nall 2 shards match`),
  });
  raw.disconnect();
});

test("a foreign or damaged layout key is shown and set aside", async () => {
  const raw = new Redis(server.url);
  const key = "oriel:{flow}:shape";
  for (const spoil of [() => raw.hset(key, "@layout", "1|64|minute|UTC|lane"), () => raw.set(key, "x")]) {
    await spoil();
    const more = ["--added-dimensions", "colour"];
    const { status, stdout } = await run("doctor", ...more);
    expect(status).toBe(1);
    expect(stdout).toMatch(/layout \(oriel:\{flow\}:shape\): (other-layout: 1\|64|damaged: the key holds a string)/);
    expect((await run("rebase", ...more, "--yes")).status).toBe(1);
    expect(await run("rebase", ...more, "--set-aside", "--yes")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("layout (oriel:{flow}:shape): none yet"),
    });
  }
  expect(await raw.keys("*:shape:aside:*")).toHaveLength(2);
  raw.disconnect();
});

test("a wrong sum is shown before --yes, with its option, and mended with it", async () => {
  const raw = new Redis(server.url);
  await raw.flushall();
  rmSync(file, { force: true });
  await work(10, false);
  await raw.hincrby("oriel:{flow:0}:counts", "@n:1", 5);
  await work(0, true);
  const row = /\n +0 +sum .*@n:1 is \d+, but its rows add up to \d+(; needs --mend-sums)?\n/;
  for (const [what, ...more] of [["doctor"], ["rebase"], ["rebase", "--mend-sums"], ["rebase", "--yes"]]) {
    const { status, stdout } = await run(what!, ...more);
    expect([status, row.exec(stdout)?.[1] !== undefined]).toEqual([
      1,
      what === "rebase" && !more.includes("--mend-sums"),
    ]);
    expect(stdout).toMatch(row);
    expect(stdout).toContain(more.includes("--yes") ? "repaired 0 of 1 shards" : "1 of 2 shards do not match");
  }
  const mended = await run("rebase", "--mend-sums", "--yes");
  expect(mended).toMatchObject({ status: 0, stdout: expect.stringContaining("repaired 1 of 1 shards") });
  expect(await run("doctor")).toMatchObject({ status: 0, stdout: expect.stringContaining("all 2 shards match") });
  expect(await work(0, true)).toBe(10n);
  raw.disconnect();
});

test("a shard that is not repaired names the option that its repair needs", async () => {
  const raw = new Redis(server.url);
  const key = "oriel:{flow:0}:counts";
  await raw.flushall();
  rmSync(file, { force: true });
  await work(10, true);
  await work(10, false);
  const older = await raw.dumpBuffer(key);
  await work(0, true);
  await raw.restore(key, 0, older!, "REPLACE");
  for (const more of [[], ["--yes"]]) {
    const { status, stdout } = await run("rebase", ...more);
    expect(status).toBe(1);
    expect(stdout).toMatch(/\n +0 +set-back .*needs --in-doubt drop or --in-doubt keep\n/);
  }
  expect((await run("rebase", "--in-doubt", "drop", "--yes")).stdout).toContain("repaired 1 of 1 shards");
  await raw.set(key, "x");
  expect((await run("rebase", "--yes")).stdout).toMatch(/the key holds a string; needs --set-aside\n/);
  expect((await run("rebase", "--set-aside", "--yes")).status).toBe(0);
  raw.disconnect();
});

test("each wrong option is one line, without secrets", async () => {
  const sql = (url: string) =>
    command(["counters", "doctor", "flow", "--redis", server.url, "--sql", url, "--dimensions", "site"]);
  expect(await sql("oracle://user:secret@host/db")).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^oriel: ARGUMENT .*--sql is "oracle"; it must be postgres:/),
  });
  expect((await sql("oracle://user:secret@host/db")).stderr).not.toContain("secret");
  expect(await run("rebase", "--yes", "--in-doubt", "maybe")).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/--in-doubt is "maybe"; it must be drop or keep/),
  });
});

test("dimensions, added ones, buckets and shards come from the registry", async () => {
  const clock = { nowMs: 0 };
  const store = redisStore(server.url, { monotonic: () => clock.nowMs });
  const database = new Database(file);
  const listed = new Counters(store, "listed", {
    dimensions: ["site"],
    addedDimensions: ["colour"],
    buckets: ["hour"],
    shards: 2,
  });
  const sink = sqliteSink(database);
  await sink.createTables(listed.shape);
  clock.nowMs += 5000;
  await listed.add({ site: "a", colour: "red" }, 3);
  await new DrainService({ counters: listed, sink }).drainOnce();
  await listed.add({ site: "b", colour: "" }, 4);
  database.close();
  await until("it is listed", async () =>
    (await command(["ls", "listed", "--redis", server.url])).stdout.includes("Counters"),
  );
  const where = ["--redis", server.url, "--sql", `sqlite:${file}`, "--drivers", drivers];
  expect(await command(["counters", "doctor", "listed", ...where])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("all 2 shards match"),
  });
  // Options win, and a layout that is not the counter's is refused.
  expect(await command(["counters", "doctor", "listed", ...where, "--shards", "4"])).toMatchObject({ status: 1 });
  const { status, stderr } = await command(["counters", "rebase", "listd", ...where, "--yes"]);
  expect([status, stderr]).toEqual([2, expect.stringMatching(/lists no Counters "listd".*did you mean "listed"/)]);
  expect((await command(["stats", "listed", "--redis", server.url])).stdout).toMatch(/^site +colour +count\nb +4$/m);
  await store.close();
});
