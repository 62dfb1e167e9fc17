import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { shardOf } from "../../../src/queue/format/layout.ts";
import { startChild } from "../../harness/child.ts";
import { until } from "../../harness/until.ts";
import { Live } from "./live.ts";

const consumer = new URL("../consumer.ts", import.meta.url);
// biome-ignore lint/suspicious/noThenProperty: what becomes of the connection
const silently = { then: "silence" } as const;
/** It is extended long before its end, on a slow machine too. */
const VISIBILITY_MS = 5000;
const ids = (count: number, delay = 0) => Array.from({ length: count }, (_, i) => ({ payload: i, id: `${i}`, delay }));

describe.each(["server", "cluster"] as const)("on a %s", (kind) => {
  const live = new Live(kind);
  /** Of what was handed on, the part of each shard, which has an order of its own. */
  const byShard = <Of extends { id: string }>(all: readonly Of[]) =>
    Array.from({ length: live.shards }, (_, shard) => all.filter(({ id }) => shardOf(id, live.shards) === shard));

  test("kill -9 of a consumer with 8 messages in flight: each is delivered once more", async () => {
    const queue = live.queue();
    await queue.addBulk(ids(8));
    const child = startChild(consumer, [...live.address, live.shards, 8, VISIBILITY_MS, 600_000]);
    await child.printed(8);
    expect([...child.lines].sort()).toEqual(ids(8).map(({ id }) => `${id} 1`));
    await pause(VISIBILITY_MS + 500); // it extends what it has: nobody else gets any
    expect(await queue.claim({ limit: 10 })).toEqual([]);
    await child.kill();
    const handed: string[] = [];
    for (const each of [queue, live.queue()])
      live.work(each, ({ id, attempt }) => void handed.push(`${id} ${attempt}`), { concurrency: 3 });
    await until("all are handled", async () => handed.length >= 8 && (await queue.counts()).claimed === 0);
    expect(handed.sort()).toEqual(ids(8).map(({ id }) => `${id} 2`));
  });

  test("a consumer stands still past its visibility: another has the message, and its result is refused", async () => {
    const queue = live.queue();
    const child = startChild(consumer, [...live.address, live.shards, 1, 600, 4000]); // its handler runs when it is stopped
    await queue.add(1, { id: "a" });
    await child.printed(1);
    child.pause();
    let end = () => {};
    const attempts: number[] = [];
    live.work(queue, ({ attempt }) => {
      attempts.push(attempt);
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    await until("another has it", () => attempts.length === 1);
    child.resume();
    await child.printed(2);
    expect(child.lines).toEqual(["a 1", "lost a 1"]);
    expect(await queue.get("a")).toMatchObject({ state: "claimed", attempt: 2 });
    end();
    await until("it is done", async () => (await queue.get("a")) === undefined);
    expect(attempts).toEqual([2]);
    await child.kill();
  });

  test("a poison message is delivered up to its limit, then dead with its error; others are still handled", async () => {
    const queue = live.queue({ attempts: 3, backoff: 20 });
    let deliveries = 0;
    const done: { id: string }[] = [];
    await queue.add("poison", { id: "poison" });
    await queue.addBulk(ids(100));
    live.work(queue, ({ id }) => {
      if (id !== "poison") return void done.push({ id });
      throw new Error(`no ${++deliveries}`);
    });
    await until("all have ended", async () => done.length === 100 && (await queue.counts()).dead === 1);
    expect(deliveries).toBe(3);
    expect(byShard(done)).toEqual(byShard(ids(100).map(({ id }) => ({ id }))));
    expect(await queue.dead.list()).toMatchObject([{ id: "poison", attempt: 3, lastError: "Error: no 3" }]);
  });

  test("every notification is lost: due messages are found by regular polls", async () => {
    const handed: unknown[] = [];
    for (const proxy of live.proxies) proxy.dropReplies(1e9, { command: "", ...silently });
    live.work(live.queue({ isProxied: true }), ({ payload }) => void handed.push(payload));
    await pause(500);
    await live.queue().add(1);
    await until("it is handled", () => handed.length > 0);
  });

  test("a subscription that breaks is opened again, and missed messages are found", async () => {
    const handed: unknown[] = [];
    const queue = live.queue();
    live.work(queue, ({ payload }) => void handed.push(payload));
    await pause(300);
    for (let i = 0; i < 3; i++) {
      for (const raw of live.raws) await raw.call("CLIENT", "KILL", "TYPE", "pubsub");
      await queue.add(i);
    }
    await until("all are handled", () => handed.length === 3);
    expect(handed.sort()).toEqual([0, 1, 2]);
  });

  test("the server is unreachable, silent and then refusing: workers continue when it is back", async () => {
    const queue = live.queue();
    const handed: string[] = [];
    const errors: unknown[] = [];
    const options = { concurrency: 4, visibility: 1000 };
    const worker = live.work(live.queue({ isProxied: true, deadline: 300 }), ({ id }) => void handed.push(id), options);
    worker.on("error", ({ error }) => errors.push(error));
    await queue.addBulk(Array.from({ length: 25 }, (_, i) => ({ payload: i, id: `${i}`, delay: 100 * i })));
    await until("it works", () => handed.length > 1);
    for (const server of live.servers) server.pause();
    await pause(900);
    for (const server of live.servers) server.resume();
    for (const proxy of live.proxies) {
      proxy.refuse(true);
      proxy.cut();
    }
    await pause(1500);
    await queue.addBulk(Array.from({ length: 10 }, (_, i) => ({ payload: i, id: `${25 + i}` })));
    expect((await queue.counts()).due).toBeGreaterThan(9);
    await until("a call of the worker has failed", () => errors.length > 0);
    for (const proxy of live.proxies) proxy.refuse(false);
    await until("all are done", async () => {
      const { waiting, due, claimed } = await queue.counts();
      return waiting + due + claimed === 0;
    });
    expect([...new Set(handed)].map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 35 }, (_, i) => i));
    for (const error of errors) expect(error).toMatchObject({ name: "OrielError", transient: true });
  });

  test("the reply to an add is lost: it is sent again, and added once", async () => {
    const queue = live.queue({ isProxied: true });
    const dropReplies = (count: number, options = {}) => {
      for (const proxy of live.proxies) proxy.dropReplies(count, options);
    };
    await queue.add("first", { id: "first" });
    dropReplies(1);
    await queue.add(1, { id: "a" });
    dropReplies(1);
    expect(await queue.add(2)).toMatchObject({ isNew: true });
    dropReplies(0);
    const hasty = live.queue({ isProxied: true, deadline: 200 });
    await until("it is connected", async () => (await hasty.counts()).due === 3);
    // Its first write also compares the layout, and would add nothing if that reply were lost.
    await until("it has written", () => hasty.resume().then(() => true));
    dropReplies(5, silently);
    await expect(hasty.add(3, { id: "b" })).rejects.toMatchObject({ applied: "unknown", transient: true });
    dropReplies(0);
    for (const proxy of live.proxies) proxy.cut();
    await until("it is known", () => queue.add(3, { id: "b" }).then(({ isNew }) => !isNew));
    const claimed = await queue.claim({ limit: 10 });
    const payloads = claimed.map(({ payload }) => payload);
    expect(live.shards === 1 ? payloads : payloads.sort()).toEqual(
      live.shards === 1 ? ["first", 1, 2, 3] : [1, 2, 3, "first"],
    );
  });
});
