// A runtime's own fetch may send again when a kept connection breaks before the answer. A step must not run twice.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { fixedWindow, httpStore, Limiter } from "../../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { type RestServer, startRest } from "../../harness/servers/rest-server.ts";
import { bundled, temporaryFolder } from "../bundles/bundle.ts";
import { inRuntime } from "../engines/in-runtime.ts";
import { reportOf } from "../report.ts";
import { answersOf } from "../worker.ts";

const TAKES = `
  import { fixedWindow, httpStore, Limiter } from "oriel";
  async function takes(url, token) {
    const store = httpStore({ url, token, deadline: 10_000, registry: false });
    const limiter = new Limiter(store, [fixedWindow({ limit: 100, span: "1h" })], { name: "resend" });
    const outcome = [];
    for (let i = 0; i < 6; i++) outcome.push(await limiter.take("a").then((decision) => decision.remaining, (error) => error.applied));
    return outcome;
  }
`;
const COMMANDS: Record<string, readonly string[]> = {
  "Node 26": [],
  Bun: ["run"],
  Deno: ["run", "--no-prompt", "--allow-net=127.0.0.1"],
};

const folder = temporaryFolder();
let redis: RedisServer;
let rest: RestServer;
beforeAll(async () => {
  redis = await startRedis();
  rest = await startRest(redis.url);
  const limiter = new Limiter(
    httpStore({ url: rest.url, token: rest.token, registry: false }),
    [fixedWindow({ limit: 100, span: "1h" })],
    { name: "resend" },
  );
  await limiter.take("a"); // the server has its script from then on
});
beforeEach(() => {
  rest.requests.length = 0;
  let asked = 0;
  rest.faultOf = () => (asked++ % 2 === 1 ? { cut: "after it was run" } : undefined);
});
afterAll(async () => {
  await rest?.stop();
  await redis?.stop();
});

const main = (how: string) => `${TAKES}\n${how.replace("ADDRESS", `"${rest.url}", "${rest.token}"`)}`;
/** The requests that came are those that the store sent, and every second answer was lost. */
function expectOnce(outcome: unknown) {
  expect(outcome).toEqual([
    expect.any(Number),
    "unknown",
    expect.any(Number),
    "unknown",
    expect.any(Number),
    "unknown",
  ]);
  expect(rest.requests).toHaveLength(6);
}

for (const [name, args] of Object.entries(COMMANDS))
  inRuntime(name, (program) => {
    test("Node sends no request a second time", async () => {
      const file = join(folder, "resend.mjs");
      const script = main("console.log(JSON.stringify(await takes(ADDRESS)));");
      writeFileSync(file, await bundled(script, { platform: "browser" }));
      expectOnce(await reportOf(program, [...args, file], folder));
    });
  });

test("workerd sends no request a second time", async () => {
  const file = join(folder, "resend-worker.mjs");
  const script = main("export default { fetch: async () => Response.json(await takes(ADDRESS)) };");
  writeFileSync(file, await bundled(script, { platform: "browser" }));
  expectOnce((await answersOf(file, { date: "2025-05-31" }))[0]);
});
