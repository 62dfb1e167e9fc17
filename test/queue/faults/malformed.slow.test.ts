import type { Redis } from "ioredis";
import { afterAll, expect, test } from "vitest";
import type { DelayQueue, QueuedMessage } from "../../../src/entries/index.ts";
import { onRedis } from "../../harness/clock/stepped-stores.ts";
import { Stage } from "../contract/stage.ts";
import { eventsOf, fill } from "../contract/suite-work.ts";

const stage = new Stage(await onRedis());
const client = stage.opened.client as Redis;
afterAll(() => stage.opened.close());

const TIMES = "oriel:{mail:0}:times";
const MESSAGES = "oriel:{mail:0}:messages";
const LOOKS_EVERY_MS = 61;
const GOOD = ["0", "1", "2"];

/** An envelope as a queue writes it, with the given changes. */
function envelope(content: string | Buffer, { attempts = 5, priority = 0, kind = 1, factor = 2 } = {}): Buffer {
  const bytes = Buffer.alloc(28);
  bytes.set([attempts, priority, kind]);
  bytes.writeDoubleBE(1000, 4);
  bytes.writeDoubleBE(factor, 12);
  bytes.writeUInt32BE(3600, 20);
  return Buffer.concat([bytes, Buffer.from(content)]);
}

const digits = () => (stage.nowMs * 1000).toString(16).padStart(14, "0");

/** A message that something else has put there, due since a second. */
async function put(value: (seq: string) => Buffer | string, id: string | Buffer = "bad"): Promise<Buffer> {
  const seq = digits();
  const stored = Buffer.from(value(seq));
  await client.hset(MESSAGES, Buffer.concat([Buffer.from(":"), Buffer.from(id)]), stored);
  await client.zadd(TIMES, (stage.nowMs - 1000) * 128, Buffer.concat([Buffer.from(seq), Buffer.from(id)]));
  return stored;
}

const spoiled: [of: string, value: (seq: string) => Buffer | string, why: RegExp][] = [
  ["no JSON", (seq) => Buffer.concat([Buffer.from(seq), envelope("{not json")]), /no JSON/],
  ["no UTF-8", (seq) => Buffer.concat([Buffer.from(seq), envelope(Buffer.of(0x22, 0xff, 0x22))]), /no JSON/],
  ["nothing", () => "", /seq/],
  ["its seq alone", (seq) => seq, /0 bytes/],
  ["half a head", (seq) => Buffer.concat([Buffer.from(seq), envelope("1").subarray(0, 20)]), /20 bytes/],
  ["no deliveries", (seq) => Buffer.concat([Buffer.from(seq), envelope("1", { attempts: 0 })]), /0 deliveries/],
  ["200 deliveries", (seq) => Buffer.concat([Buffer.from(seq), envelope("1", { attempts: 200 })]), /200 deliveries/],
  ["a priority of 10", (seq) => Buffer.concat([Buffer.from(seq), envelope("1", { priority: 10 })]), /priority is 10/],
  ["a later kind", (seq) => Buffer.concat([Buffer.from(seq), envelope("1", { kind: 3 })]), /kind, 3/],
  ["a backoff of NaN", (seq) => Buffer.concat([Buffer.from(seq), envelope("1", { factor: Number.NaN })]), /backoff/],
  ["another seq", () => Buffer.concat([Buffer.from("0".repeat(14)), envelope("1")]), /seq/],
  ["random bytes", () => Buffer.from(Array.from({ length: 200 }, (_, i) => (i * 97 + 131) % 256)), /seq/],
];

function expectCorrupt(message: QueuedMessage | undefined, stored: Buffer, why: RegExp): void {
  expect(message).toMatchObject({ payload: undefined, corrupt: { base64: stored.toString("base64") } });
  expect(message!.corrupt!.why).toMatch(why);
  expect(JSON.parse(JSON.stringify(message))).toMatchObject({ id: message!.id, state: message!.state });
}

/** Claims until nothing is due, also when the server looks for what damage has hidden. */
async function claimAround(queue: DelayQueue<unknown>): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < 2 * LOOKS_EVERY_MS; i++) {
    for (const message of await queue.claim({ limit: 5 })) {
      ids.push(message.id);
      await queue.ack(message);
    }
    await stage.advance(1);
  }
  return ids;
}

async function setUp(options = {}): Promise<DelayQueue<unknown>> {
  await stage.clear();
  const queue = stage.queue(options);
  await fill(queue, GOOD.length);
  return queue;
}

test.each(spoiled)(
  "a message with %s becomes a dead letter with its bytes, and does not affect others",
  async (of, value, why) => {
    const queue = await setUp();
    const stored = await put(value);
    // Which seq is the right one, its worker finds out.
    if (of !== "another seq")
      expectCorrupt(
        (await queue.peek()).find(({ id }) => id === "bad"),
        stored,
        why,
      );
    const handled: [string, number][] = [];
    const worker = stage.worker(queue, ({ id, attempt }) => void handled.push([id, attempt]), { concurrency: 4 });
    const events = eventsOf(worker);
    await stage.settle();
    expect(handled).toEqual(GOOD.map((id) => [id, 1]));
    const dead = events.filter(([name]) => name !== "completed" && name !== "lag");
    expect(dead).toMatchObject([["dead", { id: "bad", attempt: 1, error: { name: "OrielError", code: "CORRUPT" } }]]);
    const { message } = (dead[0]![1] as { error: Error }).error;
    expect(message).toMatch(/^QueueWorker "mail": .*"oriel:\{mail:0\}:messages" is damaged: message bad: /);
    expect(message).toMatch(why);
    const [listed] = await queue.dead.list();
    expect(listed).toMatchObject({ id: "bad", state: "dead", attempt: 1, atMs: stage.nowMs });
    expect(listed!.lastError).toMatch(/^CORRUPT: /);
    expect(listed!.lastError).toMatch(why);
    expect(listed!.corrupt!.base64).toBe(stored.toString("base64"));
    expect(await queue.get("bad")).toEqual(listed);
    expect(await queue.counts()).toMatchObject({ due: 0, claimed: 0, dead: 1 });

    expect([await queue.dead.redrive(), await queue.dead.redrive({ ids: ["bad"] })]).toEqual([0, 0]);
    expect(await queue.get("bad")).toEqual(listed);
    expect(await queue.cancel("bad")).toBe(true);
    expect(await queue.dead.list()).toEqual([]);
    expect((await client.hkeys(MESSAGES)).filter((field) => /^[:!]/.test(field))).toEqual([]);
  },
);

test.each(spoiled)("a manual claim skips a message with %s", async (_, value) => {
  const queue = await setUp();
  await put(value);
  const claims = await queue.claim({ limit: 3 });
  expect(claims.map(({ id, attempt }) => [id, attempt])).toEqual(GOOD.map((id) => [id, 1]));
  expect(await queue.dead.list()).toMatchObject([{ id: "bad", corrupt: {} }]);
});

test.each([
  ["no UTF-8", Buffer.of(0xc3, 0x28), /UTF-8/],
  ["NUL", "a\0b", /id/],
  ["nothing", "", /id/],
])("a message whose id is %s gets another id, by which it can be cancelled", async (_, id, why) => {
  const queue = await setUp();
  await put((seq) => Buffer.concat([Buffer.from(seq), envelope("1")]), id);
  const worker = stage.worker(queue, () => {});
  const events = eventsOf(worker);
  await stage.settle();
  const [listed] = await queue.dead.list();
  expect(listed!.id).toMatch(/^corrupt-[0-9a-f]+$/);
  expect(listed!.lastError).toMatch(why);
  expect(events.filter(([name]) => name === "dead")).toMatchObject([["dead", { id: listed!.id }]]);
  expect(await queue.cancel(listed!.id)).toBe(true);
  expect(await queue.counts()).toEqual({ waiting: 0, due: 0, claimed: 0, dead: 0, isPaused: false });
});

test("many corrupt messages before a sound one: all redrivable ones are redriven", async () => {
  const queue = await setUp({ attempts: 1 });
  for (let i = 0; i < 300; i++) await put((seq) => `${seq}x`, `bad${i}`);
  stage.worker(queue, () => Promise.reject(new Error("no")), { concurrency: 50 });
  await stage.advance(100);
  expect(await queue.counts()).toMatchObject({ dead: 303, due: 0, claimed: 0 });
  await queue.pause();
  expect(await queue.dead.redrive()).toBe(3);
  expect(await queue.counts()).toMatchObject({ dead: 300, due: 3 });
});

test("a duplicate entry of a message is removed, and the message is handled once", async () => {
  const queue = await setUp();
  for (const member of [`${"0".repeat(14)}1`, "junk"]) await client.zadd(TIMES, (stage.nowMs - 5000) * 128, member);
  const handled: string[] = [];
  stage.worker(queue, ({ id }) => void handled.push(id));
  await stage.settle();
  expect(handled).toEqual(GOOD);
  expect(await queue.counts()).toMatchObject({ due: 0, claimed: 0, dead: 0 });
});

test.each(["-5", "1e17", "inf", "-inf"])(
  "an entry at %s, which is no valid place, is found and is dead",
  async (score) => {
    const queue = await setUp();
    const member = (await client.zrange(TIMES, 0, "-1")).find((each) => each.endsWith("1"))!;
    await client.zadd(TIMES, score, member);
    expect(await claimAround(queue)).toEqual(["0", "2"]);
    expect(await queue.dead.list()).toMatchObject([{ id: "1", lastError: expect.stringMatching(/^CORRUPT: .*score/) }]);
  },
);

test.each([
  ["is not there", undefined],
  ["lacks one", "9"],
  ["is no number", "x\0\xff"],
  ["holds one twice", "00"],
])("the field @levels %s: waiting messages are still handled once", async (_, levels) => {
  const queue = await setUp();
  if (levels === undefined) await client.hdel(MESSAGES, "@levels");
  else await client.hset(MESSAGES, "@levels", levels);
  expect(await claimAround(queue)).toEqual(GOOD);
});

test.each(["nan", "inf", "-1", "", "99999999999999999999"])(
  "the field @seq is %j: CORRUPT, with the name of the key",
  async (seq) => {
    const queue = await setUp({ attempts: 1 });
    await client.hset(MESSAGES, "@seq", seq);
    const corrupt = { code: "CORRUPT", applied: "no", message: expect.stringContaining(MESSAGES) };
    await expect(queue.add(1)).rejects.toMatchObject(corrupt);
    await expect(queue.dead.redrive()).rejects.toMatchObject(corrupt);
    expect(await queue.claim({ limit: 5 })).toHaveLength(3);
    await client.hdel(MESSAGES, "@seq");
    expect(await queue.add(1)).toMatchObject({ isNew: true });
  },
);

test("the field @layout is missing: CORRUPT; of another format: MISMATCH", async () => {
  const queue = await setUp();
  await client.hset(MESSAGES, "@layout", "\xff");
  await expect(queue.claim()).rejects.toMatchObject({ code: "CORRUPT", message: expect.stringContaining(MESSAGES) });
  for (const layout of ["2|1", "4|1"]) {
    await client.hset(MESSAGES, "@layout", layout);
    await expect(queue.claim()).rejects.toMatchObject({ code: "MISMATCH" });
    await expect(queue.add(1)).rejects.toMatchObject({ code: "MISMATCH", applied: "no" });
  }
});

test("a worker whose shard is no queue reports it and closes", async () => {
  const queue = await setUp();
  const worker = stage.worker(queue, () => {});
  const events = eventsOf(worker);
  await stage.settle();
  await client.del(TIMES);
  await client.set(TIMES, "x");
  await stage.advance(10_000);
  expect(events.at(-1)).toMatchObject(["error", { error: { code: "CORRUPT", structureName: "mail" } }]);
  await stage.awaiting(worker.close(), 1000);
  await client.del(TIMES);
});

test.each<[what: string, damage: () => Promise<unknown>, polls: boolean]>([
  ["the last seq", () => client.hset(MESSAGES, "@seq", "none"), true],
  ["the list of priorities", () => client.hset(MESSAGES, "@levels", "none"), true],
  ["the message, which is deleted", () => client.hdel(MESSAGES, ":poll"), false],
  ["the message, which has another seq", () => client.hset(MESSAGES, ":poll", "0".repeat(40)), false],
])("a message that comes again after something else has damaged %s", async (_what, damage, polls) => {
  const queue = await setUp();
  await claimAround(queue);
  let runs = 0;
  const worker = stage.worker(queue, async (job) => {
    if (job.id !== "poll") return;
    if (++runs === 2) await damage();
    if (runs < 5) job.again({ delay: 10 });
  });
  const events = eventsOf(worker);
  await queue.add("x", { id: "poll" });
  await stage.advance(2000);
  expect(runs).toBe(polls ? 5 : 2);
  expect(events.filter(([name]) => name === "error")).toEqual([]);
  await client.hdel(MESSAGES, "@seq");
  await fill(queue, GOOD.length, { id: undefined });
  await stage.advance(2000);
  expect(await queue.counts()).toMatchObject({ waiting: 0, due: 0, claimed: 0 });
  await stage.awaiting(worker.close());
});
