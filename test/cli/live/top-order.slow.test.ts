import { afterAll, beforeAll, expect, test } from "vitest";
import { DelayQueue, Series } from "../../../src/entries/index.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { command } from "../command.ts";
import { inTerminal } from "./terminal.ts";

const COUNT = 60;
let server: Awaited<ReturnType<typeof startRedis>>;
let store: ReturnType<typeof redisStore>;
let all: Series[];
/** More series than rows of a terminal. The last ones by name have the largest rate and the largest p99. */
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  const clock = { nowMs: 0 };
  store = redisStore(server.url, { deadline: 5000, monotonic: () => clock.nowMs });
  all = Array.from({ length: COUNT }, (_, i) => new Series(store, `s${String(i).padStart(2, "0")}`));
  const queue = new DelayQueue(store, "z");
  await Promise.all(
    all.map((series, i) => series.recordMany(Array.from({ length: i + 1 }, () => (i === 57 ? 900 : 1)))),
  );
  await queue.add("due");
  clock.nowMs += 5000;
  await queue.counts();
  await until("the registry lists them", async () => {
    const { stdout } = await command(["ls", "--redis", server.url, "--json"]);
    return stdout.split("\n").length > COUNT;
  });
});
afterAll(async () => {
  await Promise.all(all.map((series) => series.close()));
  await store.close();
  await server.stop();
});

test("an order by numbers finds the largest, although its row was not on the screen", async () => {
  const terminal = inTerminal(["top", "--span", "1h", "--every", "100ms", "--redis", server.url], 10, 100);
  await terminal.shows(/^> z /m);
  terminal.keys("sss");
  await terminal.shows(/by rate[\s\S]*^> s59 [\s\S]*^ {2}s58 [\s\S]*^ {2}s57 /m);
  terminal.keys("s");
  await terminal.shows(/by p99[\s\S]*^> s57 /m);
  terminal.keys("r");
  await terminal.shows(/by p99 reversed[\s\S]*^> s00 /m);
  terminal.keys("rss");
  await terminal.shows(/by lag[\s\S]*^> z /m);
  // Rows that leave the screen lose their numbers, and are read when they return.
  terminal.keys("ssr\u001b[F");
  await terminal.shows(/by kind reversed[\s\S]*^> z /m);
  terminal.keys("\u001b[H");
  await terminal.shows(/^> s59 +Series +0\.0167 /m);
  terminal.keys("q");
  expect(await terminal.ended).toBe(0);
});
