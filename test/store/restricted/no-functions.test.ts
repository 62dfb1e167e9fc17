import { expect, test } from "vitest";
import { Lock } from "../../../src/entries/index.ts";
import { atEnd, oncePerFile } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { startRestricted } from "../../harness/servers/restricted.ts";
import { RESTRICTIONS } from "../../harness/servers/restrictions.ts";
import { clients, storeOn } from "../contract/clients.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

const open = async (client: keyof typeof clients, scripting?: "functions") => {
  const server = await startRestricted((await redis()).port, RESTRICTIONS["no functions"]);
  const given = clients[client](server.url);
  const store = storeOn(given, scripting ? { scripting } : {});
  atEnd(async () => {
    await store.close();
    given.end();
    await server.stop();
  });
  return store;
};

test.each(Object.keys(clients) as (keyof typeof clients)[])(
  "%s: functions fail at once, and say what to do",
  async (client) => {
    const error = await new Lock(await open(client, "functions"), "a").tryLock().catch((error) => error);
    expect(error).toMatchObject({ code: "UNAVAILABLE", transient: false, applied: "no" });
    expect(error.message).toContain(
      `the server has no functions (ERR unknown command 'FCALL', with args beginning with:); leave out scripting: "functions"`,
    );
  },
);

test.each(Object.keys(clients) as (keyof typeof clients)[])("%s: the default works", async (client) => {
  const held = await new Lock(await open(client), `b ${client}`).tryLock();
  expect(await held!.release()).toBe(true);
});
