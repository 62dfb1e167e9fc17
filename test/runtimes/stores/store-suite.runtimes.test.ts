// The store's suite in other runtimes, by their TCP, over a real Redis.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { temporaryFolder } from "../bundles/bundle.ts";
import { bundledSuite } from "../bundles/bundle-suite.ts";
import { inRuntime } from "../engines/in-runtime.ts";
import { expectAll, reportOf } from "../report.ts";
import { answersOf, deployed } from "../worker.ts";

const CLIENTS = ["ioredis 6", "node-redis 6"] as const;

/** Prints the outcome; it ends by itself only where nothing was left open. */
const PROGRAM = `const [client, url] = process.argv.slice(2);
runStoreSuite(client, url).then((outcome) => console.log(JSON.stringify(outcome)));`;
const COMMANDS: Record<string, readonly string[]> = {
  "Node 26": [],
  Bun: ["run"],
  Deno: ["run", "--no-prompt", "--allow-net=127.0.0.1", "--allow-env"],
};

/** Answers with the outcome: what a worker has open is of one request. */
const WORKER = `export default { fetch: async (request) => {
  const asked = new URL(request.url).searchParams;
  return Response.json(await runStoreSuite(asked.get("client"), asked.get("url")));
} };`;

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
});
afterAll(() => server?.stop());
const folder = temporaryFolder();

describe("the suite of stores", () => {
  const file = join(folder, "suite.mjs");
  beforeAll(async () => writeFileSync(file, await bundledSuite(PROGRAM)));

  for (const [name, args] of Object.entries(COMMANDS))
    inRuntime(name, (program) => {
      test.each(CLIENTS)("%s", async (client) =>
        expectAll(await reportOf(program, [...args, file, client, server.url], folder)),
      );
    });

  describe("in workerd, with a client for each of two requests", () => {
    const options = { date: "2025-06-01", flags: ["nodejs_compat"] };
    let script = "";
    beforeAll(async () => {
      // Beneath the folder in which wrangler finds the clients.
      const sources = fileURLToPath(new URL("node_modules/.oriel", import.meta.url));
      mkdirSync(sources, { recursive: true });
      const main = join(sources, "store-suite.mjs");
      writeFileSync(main, await bundledSuite(WORKER, { packages: "external" }));
      script = await deployed(main, folder, options);
    });

    test.each(CLIENTS)("%s", async (client) => {
      const query = new URLSearchParams({ client, url: server.url }).toString();
      for (const outcome of await answersOf(script, options, query, 2)) expectAll(outcome);
    });
  });
});
