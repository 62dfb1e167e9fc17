import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { startChild } from "../../harness/child.ts";
import { atEnd } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { Table } from "../simulator/table.ts";
import { drainAll } from "./model-drain.ts";
import { open, SHARDS } from "./stage.ts";

test("processes are killed while others drain: acknowledged <= counted <= sent, for each event", async () => {
  const server = await startRedis();
  atEnd(() => server.stop());
  const { store, flow } = open(server.url);
  const table = new Table();
  const lines: string[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const children = [0, 1].map((i) => startChild(new URL("child.ts", import.meta.url), [server.url, `${turn}.${i}`]));
    await Promise.all(children.map((child) => child.printed(200)));
    for (const child of children) {
      await pause(Math.random() * 50);
      await drainAll(store, SHARDS, table);
      await child.kill();
      lines.push(...child.lines);
    }
  }
  const rows = await flow.read({ table });
  const counted = new Map(rows.map(({ values, count }) => [values.id!, count]));
  const ids = (sign: string) => lines.filter((line) => line[0] === sign).map((line) => line.slice(1));
  const sent = new Set(ids("+"));
  expect(ids("=").filter((id) => counted.get(id) !== 1)).toEqual([]);
  expect([...counted].filter(([id, count]) => count !== 1 || !sent.has(id))).toEqual([]);
  expect(ids("=").length).toBeGreaterThan(600);
});
