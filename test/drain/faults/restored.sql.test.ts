import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { OrielError } from "../../../src/base/errors.ts";
import { Load } from "../../counter/faults/load.ts";
import { open, SHARDS } from "../../counter/faults/stage.ts";
import { atEnd } from "../../harness/ends.ts";
import { startProxy } from "../../harness/network/proxy.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { drainInto, expectDrained, tablesOf, usePostgres } from "./live.ts";

const AOF = ["--appendonly", "yes", "--appendfsync", "always"];
const FILES = { RDB: [], AOF };
const database = usePostgres();

/** A Redis that keeps its data in files, behind one address. */
async function openKeeping(files: keyof typeof FILES) {
  const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), "oriel-files-")));
  for (const folder of folders) atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const [data, backup] = folders as [string, string];
  const start = async () => {
    const server = await startRedis({ tcp: true, args: ["--dir", data, ...FILES[files]] });
    atEnd(() => server.stop());
    await until("it has read its files", async () => {
      const raw = new Redis(server.url);
      const info = await raw.info("persistence").finally(() => raw.disconnect());
      return /loading:0/.test(info);
    });
    return server;
  };
  let server = await start();
  const proxy = await startProxy(server.port);
  atEnd(() => proxy.close());
  const { flow } = open(proxy.url);
  const live = drainInto(database.pool, flow);
  await live.sink.createTables(flow.shape);
  const load = new Load();
  return {
    flow,
    live,
    load,
    produce: (events: number) =>
      Promise.all(Array.from({ length: events }, (_, i) => load.add(flow, `r${i % 60}`, 1 + (i % 3)))),
    async backUp() {
      const raw = new Redis(server.url);
      if (files === "RDB") await raw.save();
      raw.disconnect();
      cpSync(data, backup, { recursive: true });
    },
    async restore() {
      await server.kill();
      rmSync(data, { recursive: true });
      cpSync(backup, data, { recursive: true });
      server = await start();
      proxy.moveTo(server.port);
    },
  };
}

type Scene = Awaited<ReturnType<typeof openKeeping>>;

/** Freezes what is there; the database does not take it. */
async function freezeOnly({ live, flow }: Scene): Promise<void> {
  const apply = () => Promise.reject(new OrielError("UNAVAILABLE", "on purpose", { transient: true }));
  const report = await live.open(flow, { sink: { ...live.sink, apply } }).drainOnce();
  expect(report).toMatchObject({ failed: SHARDS });
}

const drain = async ({ live }: Scene) => expect(await live.service.drainOnce()).toMatchObject({ drained: SHARDS });

/** This drain and the next one leave the shards alone. A reader gets DIVERGED. */
async function expectHalted({ live, flow, load, produce }: Scene): Promise<void> {
  const before = await tablesOf(database.pool, live);
  for (const service of [live.service, live.open(flow)]) {
    await expect(flow.read({ table: live.sink })).rejects.toMatchObject({ code: "DIVERGED" });
    for (let cycle = 0; cycle < 3; cycle++) {
      expect(await service.drainOnce()).toMatchObject({ drained: 0, failed: 0, diverged: SHARDS });
      await produce(60);
      expect(await tablesOf(database.pool, live)).toEqual(before);
    }
  }
  expect(live.reported.diverged).toHaveLength(2 * SHARDS);
  expect(load.errors).toEqual([]);
}

describe.each(Object.keys(FILES) as (keyof typeof FILES)[])("Redis is restored from a backup (%s)", (files) => {
  test.each([
    { found: "all drained", before: drain, drains: 1, late: 0 },
    { found: "all drained", before: drain, drains: 1, late: 60 },
    { found: "all drained", before: drain, drains: 2, late: 60 },
    { found: "counts that wait", before: async () => {}, drains: 1, late: 0 },
    { found: "a frozen generation", before: freezeOnly, drains: 1, late: 60 },
  ])("with $found, $drains drain after it, and $late events: reported, and no table changes", async (moment) => {
    const scene = await openKeeping(files);
    for (let round = 0; round < 2; round++) {
      await scene.produce(120);
      if (round === 0) await drain(scene);
    }
    await moment.before(scene);
    await scene.backUp();
    for (let i = 0; i < moment.drains; i++) {
      await scene.produce(120);
      await drain(scene);
    }
    await scene.restore();
    await scene.produce(moment.late);
    await expectHalted(scene);
  });

  test("with a frozen generation and no newer event: consistent, and not added again", async () => {
    const scene = await openKeeping(files);
    await scene.produce(120);
    await freezeOnly(scene);
    await scene.backUp();
    await drain(scene);
    await scene.restore();
    await expectDrained(database.pool, scene.live, scene.flow, scene.load);
    expect(scene.load.errors).toEqual([]);
  });
});

test("a database restored from a backup is reported, and no table changes", async () => {
  const scene = await openKeeping("RDB");
  const { table, ledgerTable } = scene.live.names;
  await scene.produce(120);
  await drain(scene);
  for (const name of [table, ledgerTable]) await database.pool.query(`CREATE TABLE ${name}_backup AS TABLE ${name}`);
  await scene.produce(120);
  await drain(scene);
  for (const name of [table, ledgerTable])
    await database.pool.query(`BEGIN; TRUNCATE ${name}; INSERT INTO ${name} TABLE ${name}_backup; COMMIT`);
  await scene.produce(60);
  await expectHalted(scene);
});
