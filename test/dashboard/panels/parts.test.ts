import { expect, test } from "vitest";
import { Counters, DelayQueue, DrainService, FleetMetrics, Lock } from "../../../src/entries/index.ts";
import { MultiSemaphore } from "../../../src/entries/structures/semaphore.ts";
import { version } from "../../../src/generated/version.ts";
import { dashboard } from "../../../src/operate/dashboard/dashboard.ts";
import type { DashboardOptions } from "../../../src/operate/dashboard/options.ts";
import type { CountersPart, FleetPart, QueueMessage, SemaphorePart } from "../../../src/operate/dashboard/parts.ts";
import type { WatchedStore } from "../../../src/store/contract.ts";
import { TableSink } from "../../fuzz/table-sink.ts";
import { atEnd, oncePerFile } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { act, openPageOf } from "../acting.ts";
import { entryOf, get, json, sceneOn } from "../scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));
const scene = async () => sceneOn((await redis()).url);

async function part<T>(store: WatchedStore, kind: string, name: string, query: string, options: DashboardOptions = {}) {
  const board = dashboard(store, options);
  const { id } = await entryOf(board, kind, name);
  return json<T>(get(board, `api/part?id=${id}&${query}`));
}

test("payloads are text, JSON or hexadecimal, cut between characters, and absent under maskIds", async () => {
  const { store, announced } = await scene();
  const queue = new DelayQueue<unknown>(store, "payloads");
  const payloads = [
    ["text", "plain"],
    ["text", `${"x".repeat(1999)}😀`],
    ["json", { a: [1, null] }],
    ["json", null],
    ["text", new TextEncoder().encode("bytes of text\n")],
    ["hex", new TextEncoder().encode("control \u0007")],
    ["hex", new Uint8Array(600).fill(255)],
  ] as const;
  for (const [i, [, payload]] of payloads.entries()) await queue.add(payload, { id: `${i}`, priority: 9 - i });
  await announced(1);
  const shown = await part<QueueMessage[]>(store, "DelayQueue", "payloads", "part=next");
  expect(shown.map(({ payload }) => payload?.form)).toEqual(payloads.map(([form]) => form));
  expect(shown.map(({ payload }) => payload?.text)).toEqual([
    ...["plain", "x".repeat(1999), '{\n  "a": [\n    1,\n    null\n  ]\n}', "null", "bytes of text\n"],
    ...["63 6f 6e 74 72 6f 6c 20 07", Array(512).fill("ff").join(" ")],
  ]);
  expect(shown.map(({ payload }) => payload?.isCut)).toEqual([false, true, false, false, false, false, true]);
  const masked = await part<QueueMessage[]>(store, "DelayQueue", "payloads", "part=next", { maskIds: true });
  expect(masked.map(({ payload }) => payload)).toEqual(payloads.map(() => null));
});

test("the lag of a shard is the time since its generation was frozen, which a failing table delays", async () => {
  const { store, announced } = await scene();
  const counters = new Counters(store, "late", { dimensions: ["page"], shards: 2 });
  atEnd(() => counters.close());
  await counters.add({ page: "p" }, 7);
  await announced(1);
  const read = () => part<CountersPart>(store, "Counters", "late", "part=shards");
  expect((await read()).shards.map(({ lagMs }) => lagMs)).toEqual([null, null]);
  class FullTable extends TableSink {
    override async apply(): Promise<never> {
      throw new Error("the disk is full");
    }
  }
  const begunMs = performance.now();
  await new DrainService({ counters, sink: new FullTable() }).drainOnce();
  const frozenMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 60)); // the lag grows at least by this
  const { shards, waiting } = await read();
  const endMs = performance.now();
  expect(waiting).toBe("7");
  const [late, ...none] = shards.filter(({ waiting }) => waiting !== "0");
  expect(none).toEqual([]);
  expect(late!.lagMs).toBeGreaterThan(endMs - frozenMs - 50);
  expect(late!.lagMs).toBeLessThan(endMs - begunMs + 50);
  expect(late!.verdict).toBe(null); // without a sink
});

test("a fleet of many names shows 50 of them, and the sum of all", async () => {
  const { store, announced } = await scene();
  const fleet = new FleetMetrics(store, "many", { interval: "10m" });
  for (let i = 0; i < 70; i++) fleet.metric(`name ${i}`).addAllowed(i + 1);
  await fleet.flush();
  await announced(1);
  const answer = await part<FleetPart>(store, "FleetMetrics", "many", "part=names");
  expect([answer.count, answer.names.length, answer.names[0]]).toMatchObject([
    70,
    50,
    { name: "name 69", allowed: 70 },
  ]);
  expect(answer.total.allowed).toBe((70 * 71) / 2);
  expect(answer.processes.map(({ version }) => version)).toEqual([version]);
});

test("a semaphore counts all permits, and lists those that end first", async () => {
  const { store, announced } = await scene();
  const semaphore = new MultiSemaphore(store, "large", { limit: 1500 });
  await semaphore.tryAcquire(900, { lease: "10m" });
  await semaphore.tryAcquire(400, { lease: "5m" });
  await announced(1);
  const { limit, inUse, holds } = await part<SemaphorePart>(store, "MultiSemaphore", "large", "part=state");
  expect([limit, inUse, holds.map(({ permits }) => permits)]).toEqual([1500, 1300, [400, 600]]);
  expect(holds[0]!.leftMs).toBeGreaterThan(290_000);
});

test.each([
  ["DelayQueue", "redrive", "nobody", 'no dead message that can be redriven has the id "nobody"'],
  ["DelayQueue", "redrive", "", 'target is ""; it must be the id of a message'],
  ["DelayQueue", "cancel", "nobody", 'no waiting or dead message has the id "nobody"'],
  ["Lock", "release", "1", "the lock was not released: it is free, or another hold has it"],
  ["Lock", "release", "", 'target is ""; it must be the fence of the hold'],
  ["Lock", "release", "other", 'target is "other"; it must be the fence of the hold'],
  ["Counters", "rebase", "keep", "the dashboard has no sink of this counter; pass it in sinks"],
])("%s %s of %j is refused with one clear error", async (kind, action, target, message) => {
  const { store, announced } = await scene();
  const name = `refused ${kind} ${action} ${target}`;
  const kept = [
    new DelayQueue(store, name),
    new Lock(store, name),
    new Counters(store, name, { dimensions: ["page"], shards: 1 }),
  ];
  await (kept[1] as Lock).tryLock({ lease: "10m" });
  await announced(kept.length);
  const board = dashboard(store, { allowActions: true });
  const { id } = await entryOf(board, kind, name);
  const response = await act(await openPageOf(board), { id, action, target });
  expect([response.status, (await json<{ error: string }>(response)).error]).toEqual([
    400,
    expect.stringContaining(message),
  ]);
  expect(await (kept[1] as Lock).isHeld()).toBe(true);
});
