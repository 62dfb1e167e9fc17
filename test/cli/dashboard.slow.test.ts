import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openSink } from "../../src/cli/sql-sink.ts";
import type { Overview } from "../../src/dashboard/protocol.ts";
import { Counters, DrainService } from "../../src/entries/index.ts";
import { sceneOn } from "../dashboard/scene.ts";
import { oncePerFile } from "../harness/ends.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { command, pageOf, program } from "./command.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

/** Runs the command until it has printed its address, and stops it after `use`. */
async function served(args: string[], use: (address: string) => Promise<void>) {
  let used: Promise<void> | undefined;
  const ended = await program(
    ["dashboard", "--port", "0", "--redis", (await redis()).url, ...args],
    (stdout, child) => {
      const [address] = /http:\S+/.exec(stdout) ?? [];
      if (address === undefined || used) return;
      used = use(address).finally(() => child.kill("SIGINT"));
      used.catch(() => {}); // thrown below
    },
  );
  await used;
  return ended;
}

describe("oriel dashboard", () => {
  it("prints its address on loopback, serves the page, and ends with status 0 on Ctrl+C", async () => {
    const ended = await served([], async (address) => {
      expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
      expect(await (await fetch(address)).text()).toContain("page.js");
      const overview = (await (await fetch(`${address}api/overview`)).json()) as {
        health: object;
        allowsActions: boolean;
      };
      expect(overview).toMatchObject({
        allowsActions: false,
        health: { state: "up", nodes: [{ eviction: "noeviction" }] },
      });
    });
    expect(ended).toMatchObject({ status: 0, stderr: "" });
  });

  it("makes a token for other hosts, and refuses data without it", async () => {
    await served(
      ["--host", "127.0.0.1", "--allow-host", "ops.example.com,127.0.0.1", "--allow-actions"],
      async (address) => {
        const [, port, token] = /^http:\/\/ops\.example\.com:(\d+)\/\?token=([\w-]{32})$/.exec(address)!;
        const own = `http://127.0.0.1:${port}/`;
        expect((await fetch(`${own}api/overview`)).status).toBe(401);
        const login = await fetch(`${own}api/login`, { method: "POST", headers: { "x-oriel-token": token! } });
        const cookie = login.headers.get("set-cookie")!.split(";")[0]!;
        const overview = await fetch(`${own}api/overview`, { headers: { cookie } });
        expect(await overview.json()).toMatchObject({ allowsActions: true });
      },
    );
  });

  it.each([
    [
      ["--host", "0.0.0.0"],
      "oriel: ARGUMENT --host 0.0.0.0 is reachable from other machines; name the hosts that browsers use with --allow-host\n",
    ],
    [["--port", "99999"], 'oriel: ARGUMENT --port is "99999"; it must be a number from 0 to 65535\n'],
    [["--port", "x"], 'oriel: ARGUMENT --port is "x"; it must be a number from 0 to 65535\n'],
  ])("%j is refused with one line", async (args, line) => {
    expect(await command(["dashboard", "--redis", "redis://127.0.0.1:1", ...args])).toMatchObject({
      status: 2,
      stderr: `${line}see ${pageOf("ARGUMENT")}\n`,
    });
  });

  it("names the port that is taken", async () => {
    const { port, url } = await redis();
    const { status, stderr } = await command(["dashboard", "--redis", url, "--port", String(port)]);
    expect([status, stderr]).toEqual([
      2,
      `oriel: ARGUMENT --port ${port} is taken; choose another, or 0 for any\nsee ${pageOf("ARGUMENT")}\n`,
    ]);
  });

  it.each(["--sql", "--config"])(
    "compares each counter with the database of %s",
    async (option) => {
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
      const { stderr } = await served([...args, "--drivers", drivers], async (address) => {
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
    },
    60_000,
  );

  it("has help with examples", async () => {
    const { stdout } = await command(["dashboard", "--help"]);
    expect(stdout).toContain("Examples:");
    expect(stdout).toContain("--allow-actions");
  });
});
