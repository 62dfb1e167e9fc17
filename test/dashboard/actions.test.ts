import { describe, expect, it } from "vitest";
import {
  calendarWindow,
  concurrency,
  DelayQueue,
  fixedWindow,
  gcra,
  Limiter,
  Lock,
  leakyBucket,
  slidingWindow,
} from "../../src/entries/index.ts";
import { dashboard } from "../../src/operate/dashboard/dashboard.ts";
import type { DashboardOptions } from "../../src/operate/dashboard/options.ts";
import type { QueueMessage } from "../../src/operate/dashboard/parts.ts";
import type { AuditEntry } from "../../src/operate/dashboard/protocol.ts";
import { oncePerFile } from "../harness/ends.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { act, openPageOf } from "./acting.ts";
import { entryOf, get, json, sceneOn } from "./scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));
const POLICIES = {
  "sliding-window": slidingWindow({ limit: 1, span: "1h" }),
  "fixed-window": fixedWindow({ limit: 1, span: "1h" }),
  "leaky-bucket": leakyBucket({ capacity: 1, span: "1h" }),
  gcra: gcra({ limit: 1, burst: 1, span: "1h" }),
  concurrency: concurrency({ limit: 1, lease: "1h" }),
  "calendar-window": calendarWindow({ limit: 1, every: "month", timeZone: "Europe/Berlin" }),
};

async function limited(name: string, options: DashboardOptions, policies = [POLICIES["sliding-window"]]) {
  const { store, announced } = sceneOn((await redis()).url);
  const limiter = new Limiter(store, policies, { name });
  await limiter.take("203.0.113.7");
  expect((await limiter.take("203.0.113.7")).allowed).toBe(false);
  await announced(1);
  const board = dashboard(store, options);
  const { id, actions } = await entryOf(board, "Limiter", name);
  return { limiter, page: await openPageOf(board), id, actions };
}

describe("a reset of an id", () => {
  it.each(Object.entries(POLICIES))("lets the next call of the id pass: %s", async (kind, policy) => {
    const { limiter, page, id, actions } = await limited(`reset ${kind}`, { allowActions: true }, [policy]);
    expect(actions).toEqual(["block", "reset"]);
    const response = await act(page, { id, action: "reset", target: "203.0.113.7" });
    expect([response.status, await response.json()]).toEqual([200, { target: "203.0.113.7" }]);
    expect((await limiter.take("203.0.113.7")).allowed).toBe(true);
  });

  it("is kept in the list of actions, with the user that authorize names", async () => {
    const { page, id } = await limited("audited", { allowActions: true, authorize: () => "ada" });
    await act(page, { id, action: "reset", target: "203.0.113.7" });
    const [entry] = await json<AuditEntry[]>(get(page.board, "api/audit"));
    expect(entry).toMatchObject({
      action: "reset",
      kind: "Limiter",
      name: "audited",
      target: "203.0.113.7",
      by: "ada",
    });
    expect(Math.abs(entry!.atMs - Date.now())).toBeLessThan(60_000);
  });

  it("is kept in the list of actions with its parameters and its outcome", async () => {
    const { limiter, page, id } = await limited("parameters", { allowActions: true });
    await limiter.take("203.0.113.7", { tag: "tenant" });
    await act(page, { id, action: "block", target: "203.0.113.7", duration: "5m" });
    await act(page, { id, action: "block", target: "203.0.113.7", duration: "soon" });
    await act(page, { id, action: "reset", target: "203.0.113.7", tag: "tenant" });
    const list = async (options: DashboardOptions) => {
      const entries = await json<AuditEntry[]>(
        get(dashboard(sceneOn((await redis()).url).store, options), "api/audit"),
      );
      const own = entries.filter(({ name }) => name === "parameters");
      return own.map(({ action, duration, tag, outcome }) => ({ action, duration, tag, outcome }));
    };
    expect(await list({})).toEqual([
      { action: "reset", tag: "tenant", outcome: "done" },
      { action: "block", duration: "soon", outcome: "failed" },
      { action: "block", duration: "5m", outcome: "done" },
    ]);
    expect((await list({ maskIds: true }))[0]!.tag).toBe("t…t");
  });

  it("shows ids in part with maskIds, and targets that are no ids in full", async () => {
    const { page, id } = await limited("masked", { allowActions: true, maskIds: true });
    await act(page, { id, action: "reset", target: "203.0.113.7" });
    const { store, announced } = sceneOn((await redis()).url);
    const lock = new Lock(store, "masked lock");
    const held = (await lock.tryLock({ lease: "10m" }))!;
    await announced(1);
    const board = dashboard(store, { allowActions: true, maskIds: true });
    const listed = await entryOf(board, "Lock", "masked lock");
    await act(await openPageOf(board), { id: listed.id, action: "release", target: `${held.fence}` });
    const list = await json<AuditEntry[]>(get(board, "api/audit"));
    expect(list.slice(0, 2).map(({ action, target }) => [action, target])).toEqual([
      ["release", `${held.fence}`],
      ["reset", "2…7"],
    ]);
  });

  it("is refused without allowActions, and is not offered", async () => {
    const { limiter, page, id, actions } = await limited("read only", {});
    expect(actions).toEqual([]);
    const response = await act(page, { id, action: "reset", target: "203.0.113.7" });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("allows no actions");
    expect((await limiter.take("203.0.113.7")).allowed).toBe(false);
  });

  it.each<[string, Record<string, string>]>([
    ["another site's origin", { origin: "http://evil.example" }],
    ["another port's origin", { origin: "http://localhost:9999" }],
    ["a sandboxed page", { origin: "null" }],
    ["a cross-site request", { "sec-fetch-site": "cross-site" }],
    ["a same-site request", { "sec-fetch-site": "same-site" }],
    ["a navigation", { "sec-fetch-site": "none" }],
    ["no secret", { "x-oriel-form": "" }],
    ["another secret", { "x-oriel-form": "0".repeat(32) }],
    ["no cookie", { cookie: "" }],
    ["an empty secret and cookie", { cookie: "oriel_dashboard_form=", "x-oriel-form": "" }],
  ])("is refused with %s", async (_, headers) => {
    const { limiter, page, id } = await limited(`forged ${_}`, { allowActions: true });
    const response = await act(page, { id, action: "reset", target: "203.0.113.7" }, headers);
    expect(response.status).toBe(403);
    expect((await limiter.take("203.0.113.7")).allowed).toBe(false);
  });

  it.each([
    [{ action: "reset", target: "" }, 'target is ""; it must be the id whose counts are reset'],
    [{ action: "drop", target: "x" }, 'action is "drop"; it must be one of block, reset for Limiter'],
    [{ action: "constructor", target: "x" }, "it must be one of block, reset for Limiter"],
    [{ id: "none", action: "reset", target: "x" }, "id names no structure of the registry"],
  ])("%o is refused with one clear error", async (query, message) => {
    const { page, id } = await limited(`wrong ${JSON.stringify(query)}`, { allowActions: true });
    const response = await act(page, { id, ...query });
    expect(response.status).toBe(400);
    expect((await json<{ error: string }>(response)).error).toContain(message);
  });
});

it("messages have keys of their own under maskIds, no text of users, and no actions on one of them", async () => {
  const { store, announced } = sceneOn((await redis()).url);
  const queue = new DelayQueue(store, "masked mail", { attempts: 1 });
  const ids = ["user-1", "user-21"];
  for (const id of ids) await queue.add("secret", { id });
  for (const each of await queue.claim({ limit: 2 })) await queue.nack(each, { error: "no mailbox of user-1" });
  await announced(1);
  const board = dashboard(store, { allowActions: true, maskIds: true });
  const { id, actions } = await entryOf(board, "DelayQueue", "masked mail");
  expect(actions).toEqual(["redriveAll", "pause", "resume"]);
  const dead = () => get(board, `api/part?id=${id}&part=dead`);
  const text = await (await dead()).text();
  for (const secret of [...ids, "secret", "mailbox"]) expect(text).not.toContain(secret);
  const messages = JSON.parse(text) as QueueMessage[];
  expect(messages.map((each) => [each.id, each.error, each.payload])).toEqual([
    ["u…1", "…", null],
    ["u…1", "…", null],
  ]);
  const keys = messages.map(({ key }) => key);
  expect(new Set(keys).size).toBe(2);
  expect((await json<QueueMessage[]>(dead())).map(({ key }) => key)).toEqual(keys);
  const page = await openPageOf(board);
  for (const action of ["redrive", "cancel"]) {
    const response = await act(page, { id, action, target: "user-1" });
    expect([response.status, await json(response)]).toEqual([
      400,
      { error: `${action} needs an id in full, which this dashboard does not show (maskIds)`, code: "ARGUMENT" },
    ]);
  }
  expect((await act(page, { id, action: "redriveAll" })).status).toBe(200);
  expect((await queue.counts()).due).toBe(2);
});
