import { beforeAll, expect, test } from "vitest";
import { type ClaimedMessage, DelayQueue, memoryStore, redisStore } from "../../../src/entries/index.ts";
import { onMemory, onRedis } from "../../harness/clock/stepped-stores.ts";
import { Stage } from "../contract/stage.ts";
import { staged } from "../contract/suite.ts";

// biome-ignore lint/suspicious/noExplicitAny: wrong on purpose
type Wrong = any;

const stage = staged(() => onRedis());
let queue: DelayQueue<Wrong>;
beforeAll(() => {
  queue = stage().queue();
});
const cyclic: Wrong = {};
cyclic.self = cyclic;

const wrong: [of: string, names: RegExp, call: (queue: DelayQueue<Wrong>) => unknown][] = [
  ["a name too long", /^name is /, () => stage().queue({}, "x".repeat(20_000))],
  ["a name that is none", /^name is /, () => stage().queue({}, 7 as Wrong)],
  ["shards 0", /^shards is 0; it must be a whole number from 1 to 64/, () => stage().queue({ shards: 0 })],
  ["shards 1.5", /^shards is 1.5;/, () => stage().queue({ shards: 1.5 })],
  ["shards 65", /^shards is 65;/, () => stage().queue({ shards: 65 })],
  ["replicas", /^replicas is -1; .* from 0 to 1000/, () => stage().queue({ replicas: -1 })],
  ["dedupeFor", /^dedupeFor is "1y"; .* ms/, () => stage().queue({ dedupeFor: "1y" as Wrong })],
  ["dedupeFor, two years", /^dedupeFor is "800d"; .* 31622400000 ms/, () => stage().queue({ dedupeFor: "800d" })],
  ["remember, now dedupeFor", /^option is "remember"/, () => stage().queue({ remember: 0 } as Wrong)],
  ["attempts", /^attempts is 101; .* from 1 to 100/, () => stage().queue({ attempts: 101 })],
  ["backoff", /^backoff is -1; /, () => stage().queue({ backoff: -1 })],
  ["backoff.factor", /^backoff.factor is 0.5; .* 1 to 1000/, () => stage().queue({ backoff: { factor: 0.5 } })],
  ["an option of a queue", /^option is "shard"; .*shards/, () => stage().queue({ shard: 2 } as Wrong)],
  ["no options at all", /^options is null/, () => new DelayQueue(stage().store, "mail", null as Wrong)],
  ["no payload", /^payload is undefined; .* JSON/, (q) => q.add(undefined)],
  ["a function as payload", /^payload is a function/, (q) => q.add(() => {})],
  ["a payload with a cycle", /^payload\.self is an object; .* does not contain itself/, (q) => q.add(cyclic)],
  ["a bigint", /^payload is 7n/, (q) => q.add(7n)],
  ["a payload too long", /^payload is "524289 bytes"; .* 524288 bytes/, (q) => q.add(new Uint8Array(2 ** 19 + 1))],
  ["an empty id", /^id is ""; .* 512 characters/, (q) => q.add(1, { id: "" })],
  ["an id too long", /^id is /, (q) => q.add(1, { id: "x".repeat(513) })],
  ["NUL in an id", /^id is /, (q) => q.add(1, { id: "a\0" })],
  ["half a pair in an id", /^id is /, (q) => q.add(1, { id: "\ud800" })],
  ["null as an id", /^id is null/, (q) => q.add(1, { id: null as Wrong })],
  ["delay below 0", /^delay is -1; .* from 0 ms/, (q) => q.add(1, { delay: -1 })],
  ["delay NaN", /^delay is NaN/, (q) => q.add(1, { delay: Number.NaN })],
  ["delay null", /^delay is null/, (q) => q.add(1, { delay: null as Wrong })],
  ["delay of 60 years", /^delay is .* 1576800000000 ms/, (q) => q.add(1, { delay: 60 * 31_536_000_000 })],
  ["delay and at", /^at is 1; leave it out, because delay says/, (q) => q.add(1, { delay: 1, at: 1 })],
  ["at beyond 2109", /^at is .* 4398046511104 ms since 1970/, (q) => q.add(1, { at: 2 ** 42 })],
  ["at as text", /^at is "now"; .* ms since 1970/, (q) => q.add(1, { at: "now" as Wrong })],
  ["at no date", /^at is /, (q) => q.add(1, { at: new Date(Number.NaN) })],
  ["priority", /^priority is 10; .* from 0 to 9/, (q) => q.add(1, { priority: 10 })],
  ["attempts of a message", /^attempts is 0;/, (q) => q.add(1, { attempts: 0 })],
  ["an option of a message", /^option is "prio"/, (q) => q.add(1, { prio: 1 } as Wrong)],
  ["a bulk that is none", /^messages is undefined/, (q) => q.addBulk(undefined as Wrong)],
  ["a bulk with nothing in it", /^message is null/, (q) => q.addBulk([{ payload: 1 }, null as Wrong])],
  ["a bulk whose last is wrong", /^priority is -1/, (q) => q.addBulk([{ payload: 1 }, { payload: 2, priority: -1 }])],
  ["an id to cancel", /^id is 7/, (q) => q.cancel(7 as Wrong)],
  ["an id to get", /^id is undefined/, (q) => q.get(undefined as Wrong)],
  ["rescheduled to nothing", /^when is /, (q) => q.reschedule("a", {})],
  ["rescheduled to both", /^at is /, (q) => q.reschedule("a", { at: 1, delay: 1 })],
  ["rescheduled, misspelt", /^option is "after"/, (q) => q.reschedule("a", { after: 1 } as Wrong)],
  ["limit 0", /^limit is 0; .* from 1 to 1000/, (q) => q.claim({ limit: 0 })],
  ["visibility 0", /^visibility is 0; .* from 1 ms to 86400000 ms/, (q) => q.claim({ visibility: 0 })],
  ["an option of claim", /^option is "count"/, (q) => q.claim({ count: 1 } as Wrong)],
  ["most, now limit", /^option is "most"/, (q) => q.claim({ most: 1 } as Wrong)],
  ["nothing acknowledged", /^message is undefined/, (q) => q.ack(undefined as Wrong)],
  ["an id acknowledged", /^message is "a"/, (q) => q.ack("a" as Wrong)],
  ["nothing refused", /^message is an empty array/, (q) => q.nack([] as Wrong)],
  ["nothing extended", /^message is an object/, (q) => q.extend({} as Wrong, 1)],
  ["offset", /^offset is -1/, (q) => q.dead.list({ offset: -1 })],
  ["limit", /^limit is 1001; .* from 1 to 1000/, (q) => q.dead.list({ limit: 1001 })],
  ["an option of the list", /^option is "max"/, (q) => q.dead.list({ max: 1 } as Wrong)],
  ["misspelt ids, which would redrive all", /^option is "id"/, (q) => q.dead.redrive({ id: ["a"] } as Wrong)],
  ["ids that are none", /^ids is "a"/, (q) => q.dead.redrive({ ids: "a" as Wrong })],
  ["a handler that is none", /^handler is undefined; it must be a function/, (q) => q.process(undefined as Wrong)],
  ["concurrency", /^concurrency is 0; .* from 1 to 1000/, (q) => q.process(() => {}, { concurrency: 0 })],
  ["prefetch", /^prefetch is 1001/, (q) => q.process(() => {}, { prefetch: 1001 })],
  ["a worker's visibility", /^visibility is 99; .* from 100 ms/, (q) => q.process(() => {}, { visibility: 99 })],
  ["a worker's attempts", /^attempts is 0/, (q) => q.process(() => {}, { attempts: 0 })],
  ["a worker's signal", /^signal is /, (q) => q.process(() => {}, { signal: {} as Wrong })],
  ["a worker's lagAfter", /^lagAfter is 0/, (q) => q.process(() => {}, { lagAfter: 0 })],
  ["an option of a worker", /^option is "threads"/, (q) => q.process(() => {}, { threads: 1 } as Wrong)],
];

test.each(wrong)("%s: one clear error, and no request", async (_, names, call) => {
  const failed = await (async () => call(queue))().then(
    () => undefined,
    (error) => error,
  );
  expect(failed).toMatchObject({ name: "OrielError", code: "ARGUMENT", applied: "no" });
  expect(failed.message).toMatch(/^(DelayQueue|QueueWorker)/);
  expect(failed.message.replace(/^[A-Z]\w+( "(mail|x+...)")?[^:]*: /, "")).toMatch(names);
  await stage().settle();
  expect(stage().calls).toEqual([]);
});

const anyCall: ((queue: DelayQueue<Wrong>, claimed: ClaimedMessage) => Promise<unknown>)[] = [
  (queue) => queue.add(2),
  (queue) => queue.claim(),
  (queue) => queue.pause(),
  (queue) => queue.resume(),
  (queue) => queue.counts(),
  (queue) => queue.get("a"),
  (queue) => queue.cancel("a"),
  (queue) => queue.reschedule("a", { delay: 1 }),
  (queue) => queue.dead.list(),
  (queue) => queue.dead.redrive(),
  (queue) => queue.dead.redrive({ ids: ["a"] }),
  (queue, claimed) => queue.extend(claimed, 1000),
  (queue, claimed) => queue.nack(claimed),
  (queue, claimed) => queue.ack(claimed),
];

test.each(["memory", "redis"])("every step refuses another layout and writes nothing: %s", async (kind) => {
  const there = kind === "memory" ? new Stage(await onMemory()) : stage();
  const [one, other] = [there.queue(), there.queue({ shards: 2 })];
  await other.addBulk(Array.from({ length: 20 }, (_, payload) => ({ payload })));
  const [claimed] = await other.claim();
  const counts = await other.counts();
  const text =
    /^(DelayQueue|QueueWorker) "mail".*: the queue's layout \(format\|shards\) is 3\|2, not 3\|1: use that number of shards, or another name/;
  const mismatch = { code: "MISMATCH", message: expect.stringMatching(text), applied: "no" };
  for (const call of anyCall) await expect(call(one, claimed!)).rejects.toMatchObject(mismatch);
  const worker = there.worker(one, () => {});
  const reported = new Promise((resolve) => worker.on("error", resolve));
  expect(await reported).toMatchObject({ error: mismatch });
  expect(await other.counts()).toEqual(counts);
  await there.awaiting(worker.close(), 1000);
  if (kind === "memory") await there.opened.close();
});

test("replicas are refused by a memory store, which has none", async () => {
  const store = memoryStore();
  await expect(new DelayQueue(store, "q", { replicas: 1 }).add(1)).rejects.toMatchObject({ code: "ARGUMENT" });
  expect(await new DelayQueue(store, "q").counts()).toMatchObject({ due: 0 });
  await store.close();
});

test("a closed store refuses", async () => {
  const store = redisStore("redis://127.0.0.1:1", { deadline: 1000 });
  await store.close();
  await expect(new DelayQueue(store, "q").add(1)).rejects.toMatchObject({ code: "UNAVAILABLE", applied: "no" });
});
