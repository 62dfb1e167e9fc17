// A store that was made and called while Jest or sinon faked process.nextTick too, by which ioredis connects. Vitest cannot
// fake it, because its own messages need it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { startChild } from "../harness/child.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
});
afterAll(() => server?.stop());

test("calls of a store whose client began to connect under fake ticks work once the real ones are back", async () => {
  const child = startChild(new URL("fake-ticks-child.ts", import.meta.url), [server.url]);
  await child.ended;
  expect(child.lines).toEqual(["true", "true", "true", "up"]);
});
