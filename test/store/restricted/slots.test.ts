import { expect, test } from "vitest";
import { fixedWindow, Limiter } from "../../../src/entries/index.ts";
import { atEnd, oncePerFile } from "../../harness/ends.ts";
import { RespConnection } from "../../harness/network/resp-connection.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { startRestricted } from "../../harness/servers/restricted.ts";
import { RESTRICTIONS } from "../../harness/servers/restrictions.ts";
import { clients, storeOn } from "../contract/clients.ts";
import { overHttp } from "../contract/over-http.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));
const ids = Array.from({ length: 300 }, (_, i) => `id${i}`);

const slotted = async () => {
  const { port } = await redis();
  const server = await startRestricted(port, RESTRICTIONS["slots behind a plain client"]);
  atEnd(() => server.stop());
  return server;
};

test("the server of these tests refuses keys of several slots, and no others", async () => {
  const { url } = await slotted();
  const raw = new RespConnection(url);
  atEnd(() => raw.close());
  const replies = await raw.send([
    ["EVAL", "return 1", "2", "a", "b"],
    ["EVAL", "return 1", "2", "{a}1", "{a}2"],
  ]);
  expect(replies).toEqual([{ error: "CROSSSLOT Keys in request don't hash to the same slot" }, 1]);
});

const stores = { ...clients, HTTP: overHttp };
test.each(Object.entries(stores))(
  "%s: no call fails, each counts once, and one refusal is enough",
  async (name, open) => {
    const server = await slotted();
    const given = await open(server.url);
    const store = storeOn(given, {});
    atEnd(async () => {
      await store.close();
      await given.end();
    });
    const limiter = new Limiter(store, [fixedWindow({ limit: 5, span: "1h" })], { name });
    const takeAll = () => Promise.all(ids.map((id) => limiter.take(id)));
    const turns = [await takeAll()];
    // 300 keys are two script calls.
    expect(server.refused.get("CROSSSLOT")).toBe(2);
    for (let turn = 1; turn < 5; turn++) turns.push(await takeAll());
    for (const [turn, decisions] of turns.entries())
      for (const decision of decisions) expect(decision).toMatchObject({ allowed: true, remaining: 4 - turn });
    for (const { allowed } of await takeAll()) expect(allowed).toBe(false);
    expect(server.refused.get("CROSSSLOT")).toBe(2);
  },
);

test("functions: the same", async () => {
  const server = await slotted();
  const given = clients["node-redis 6"](server.url);
  const store = storeOn(given, { scripting: "functions" });
  atEnd(async () => {
    await store.close();
    given.end();
  });
  const limiter = new Limiter(store, [fixedWindow({ limit: 1, span: "1h" })], { name: "functions" });
  for (const { allowed } of await Promise.all(ids.map((id) => limiter.take(id)))) expect(allowed).toBe(true);
  for (const { allowed } of await Promise.all(ids.map((id) => limiter.take(id)))) expect(allowed).toBe(false);
  expect(server.refused.get("CROSSSLOT")).toBe(2);
});
