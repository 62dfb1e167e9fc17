import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openSink } from "../../src/command/sql-sink.ts";
import { Counters, DrainService } from "../../src/entries/index.ts";
import type { Overview } from "../../src/operate/dashboard/protocol.ts";
import { sceneOn } from "../dashboard/scene.ts";
import { oncePerFile } from "../harness/ends.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { served } from "./served.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

test.each(["--sql", "--config"])("oriel dashboard compares each counter with the database of %s", async (option) => {
  const drivers = fileURLToPath(new URL("../drain", import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), "oriel-dashboard-"));
  const sql = `sqlite:${join(folder, "counts.db")}`;
  const config = join(folder, "oriel.json");
  writeFileSync(config, JSON.stringify({ sql }));
  const { store, announced } = sceneOn((await redis()).url);
  const { sink, close } = await openSink(sql, { drivers });
  const names = ["clicks", "views"].map((name) => `${name} ${option}`);
  const made = names.map((name) => new Counters(store, name, { dimensions: ["page"], shards: 1 }));
  for (const counters of made) {
    await counters.add({ page: "p" }, 3);
    await sink.createTables(counters.shape);
    await new DrainService({ counters, sink }).drainOnce();
    await counters.add({ page: "p" }, 2);
  }
  await announced(made.length);
  const args = option === "--sql" ? ["--sql", sql] : ["--config", config];
  const { stderr } = await served((await redis()).url, [...args, "--drivers", drivers], async (address) => {
    const { structures } = (await (await fetch(`${address}api/overview`)).json()) as Overview;
    for (const name of names) {
      const { id } = structures.find((each) => each.name === name)!;
      const part = await (await fetch(`${address}api/part?id=${id}&part=shards`)).json();
      expect(part).toMatchObject({ hasSink: true, waiting: "2", total: "5", shards: [{ verdict: "fits" }] });
    }
  });
  expect(stderr.replaceAll(/^.*ExperimentalWarning.*$|^\(Use .*$/gm, "").trim()).toBe("");
  await Promise.all([close(), ...made.map((each) => each.close())]);
  rmSync(folder, { recursive: true });
});
