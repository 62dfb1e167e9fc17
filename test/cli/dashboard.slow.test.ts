import { describe, expect, it } from "vitest";
import { oncePerFile } from "../harness/ends.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { command, pageOf } from "./command.ts";
import { served } from "./served.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

describe("oriel dashboard", () => {
  it("prints its address on loopback, serves the page, and ends with status 0 on Ctrl+C", async () => {
    const ended = await served((await redis()).url, [], async (address) => {
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
      (await redis()).url,
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

  it("has help with examples", async () => {
    const { stdout } = await command(["dashboard", "--help"]);
    expect(stdout).toContain("Examples:");
    expect(stdout).toContain("--allow-actions");
  });
});
