// The store's suite over HTTP in each runtime, in front of a real Redis.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { EdgeVM } from "@edge-runtime/vm";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { type RestServer, startRest } from "../../harness/servers/rest-server.ts";
import { temporaryFolder } from "../bundles/bundle.ts";
import { bundledSuite } from "../bundles/bundle-suite.ts";
import { inRuntime } from "../engines/in-runtime.ts";
import { expectAll, reportOf } from "../report.ts";
import { startSite } from "../site.ts";
import { answersOf } from "../worker.ts";

const COMMANDS: Record<string, readonly string[]> = {
  "Node 26": [],
  Bun: ["run"],
  // The environment is what the assertions look at.
  Deno: ["run", "--no-prompt", "--allow-net=127.0.0.1", "--allow-env"],
};
const PROGRAM = "runStoreSuite(...ADDRESS).then((outcome) => console.log(JSON.stringify(outcome)));";
const WORKER = "export default { fetch: async () => Response.json(await runStoreSuite(...ADDRESS)) };";
const KEEP = "globalThis.outcome = runStoreSuite(...ADDRESS);";

const folder = temporaryFolder();
let redis: RedisServer;
let rest: RestServer;
beforeAll(async () => {
  redis = await startRedis();
  rest = await startRest(redis.url);
});
afterAll(async () => {
  await rest?.stop();
  await redis?.stop();
});

/** For runtimes that have nothing of Node's. */
function bundled(main: string, format: "esm" | "iife" = "esm"): Promise<string> {
  const address = JSON.stringify([rest.url, rest.token]);
  return bundledSuite(main.replace("ADDRESS", address), { platform: "browser", format }, "http");
}

describe("the suite of stores over HTTP", () => {
  for (const [name, args] of Object.entries(COMMANDS))
    inRuntime(name, (program) => {
      test("passes with the runtime's own fetch", async () => {
        const file = join(folder, "http-suite.mjs");
        writeFileSync(file, await bundled(PROGRAM));
        expectAll(await reportOf(program, [...args, file], folder));
      });
    });

  test("passes in workerd, with a store for each of two requests, without Node", async () => {
    const script = join(folder, "http-worker.mjs");
    writeFileSync(script, await bundled(WORKER));
    for (const outcome of await answersOf(script, { date: "2025-05-31" }, "", 2)) expectAll(outcome);
  });

  test("passes on Vercel's edge, which compiles no text", async () => {
    const vm = new EdgeVM({ codeGeneration: { strings: false, wasm: false } });
    vm.evaluate(await bundled(KEEP, "iife"));
    expectAll(JSON.parse(JSON.stringify(await vm.evaluate("outcome"))));
  });

  inRuntime("Chromium", (executablePath) => {
    test("passes from a page of another origin", async () => {
      const site = await startSite(await bundled(KEEP), new Uint8Array());
      const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
      try {
        const page = await browser.newPage();
        page.setDefaultTimeout(240_000);
        await page.goto(site.url);
        expectAll(await page.evaluate("outcome"));
      } finally {
        await browser.close();
        await site.close();
      }
    });
  });
});
