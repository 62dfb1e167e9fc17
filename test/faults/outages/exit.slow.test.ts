import { expect, test } from "vitest";
import { startChild } from "../../harness/child.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { startRest } from "../../harness/servers/rest-server.ts";

test.each(["killed", "frozen"])("a process exits once its stores are closed, %s by then", async (how) => {
  const server = await startRedis({ tcp: true });
  const rest = await startRest(server.url, "rest-token");
  try {
    if (how === "killed") await server.kill();
    else server.pause();
    const child = startChild(new URL("exit-child.ts", import.meta.url), [server.url, rest.url]);
    expect(await child.ended).toEqual([0, null]);
    expect(child.lines).toEqual([expect.stringMatching(/^((UNAVAILABLE|DEADLINE) ?){4}$/)]);
  } finally {
    if (how === "frozen") server.resume();
    await rest.stop();
    await server.stop();
  }
});
