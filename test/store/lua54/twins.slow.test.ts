import { afterAll, describe, expect, it } from "vitest";
import { type Lua54Server, startLua54 } from "../../harness/lua54/server.ts";
import { part } from "../../harness/runs.ts";
import { front } from "../../harness/servers/redis-server.ts";

/** The suites that run random programs in Redis and in memory. Here Redis runs Lua 5.4. */
const SUITES = [
  "breaker/contract/twins",
  "counter/contract/twins",
  "fleet/twins",
  "groups/twins.slow",
  "journal/twins/seal-twins.slow",
  "journal/twins/sealed-reads.slow",
  "journal/twins/twins.slow",
  "journal/twins/twins-known.slow",
  "series/answers/twins",
  "journal/window/parts",
  "journal/window/window",
  "limiter/contract/sliding-forms",
  "limiter/contract/twins",
  "hold/twins",
  "locked-window/twins",
  "queue/contract/twins",
  "store/contract/twins",
];

const servers: Lua54Server[] = [];
front.start = async (url) => {
  const server = await startLua54(url, { skipsFirstLine: true });
  servers.push(server);
  return server;
};
part.ofRuns = Number(process.env.ORIEL_LUA54_PART ?? 0.05);
const restore = () => {
  front.start = undefined;
  part.ofRuns = 1;
};
afterAll(restore);

describe.each(SUITES)("%s", async (suite) => {
  // A module of its own, although the suite itself may have run in this process.
  const loading = import(/* @vite-ignore */ `../../${suite}.test.ts?lua54`);
  // If a suite cannot be loaded, afterAll does not run, and the next file of this process would use Lua 5.4 too.
  await loading.catch((error) => {
    restore();
    throw error;
  });
});

it("ran these suites on Lua 5.4, and no script made text of a float", () => {
  expect(servers.filter((server) => server.ran() > 0).length).toBeGreaterThanOrEqual(SUITES.length);
  expect([...new Set(servers.flatMap(({ floats }) => [...floats]))]).toEqual([]);
});
