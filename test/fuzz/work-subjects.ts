import { shardKeys } from "../../src/counters/counter/format/layout.ts";
import { Counters, CountersDoctor, DelayQueue, DrainService, type QueueWorker } from "../../src/entries/index.ts";
import { actions } from "../../src/operate/history/steps/actions.ts";
import { count } from "../../src/operate/history/steps/count.ts";
import { denied } from "../../src/operate/history/steps/denied.ts";
import { lines } from "../../src/operate/history/steps/lines.ts";
import { keysOfShard, shardOf, timesKeys } from "../../src/queue/format/layout.ts";
import { announce } from "../../src/store/registry/steps/announce.ts";
import { list } from "../../src/store/registry/steps/list.ts";
import { until } from "../harness/until.ts";
import { expectEqual } from "./expect-equal.ts";
import type { Driven, Subject } from "./subject.ts";
import { TableSink } from "./table-sink.ts";

const SHARDS = 2;
/** Their rows lie in both shards. */
const VALUES = ["a", "b", "c", "d", "e", "f"];

const ANY_REPAIR = { inDoubt: "keep", acceptMissing: true, setAside: true, mendSums: true } as const;
/** The state of a store that was restored: a shard that is newer than all others. */
const AHEAD = Array.from({ length: SHARDS }, (_, shard) => ({
  shard,
  generation: 1000,
  nonce: "x-bfffffffffff",
  fence: 0,
  events: 1n,
}));

export const counters: Subject = {
  name: "counters",
  called: /counter|drain/i,
  drives: ["Counters", "DrainService", "CountersDoctor"],
  keys: [/^oriel:\{NAME:\d+\}:counts$/, /^oriel:\{NAME\}:shape$/, /^NAME:/],
  keysOf: (store, name) => shardKeys(store, name, SHARDS),
  open(store, key): Driven {
    const made = () =>
      new Counters(store, key, { dimensions: ["v"], shards: SHARDS, mirror: { prefix: `${key}:`, keep: "1h" } });
    const own = made();
    const sink = new TableSink();
    const reported: unknown[] = [];
    const drain = new DrainService({ counters: own, sink, every: "50ms" });
    drain.on("error", ({ error }) => void reported.push(error));
    const addAll = (counted: Counters) => Promise.all(VALUES.map((v) => counted.add({ v })));
    return {
      reported,
      async seed() {
        await addAll(own);
        await own.addBatch(
          "source",
          1n,
          VALUES.map((v) => ({ values: { v } })),
        );
        await drain.drainOnce();
        await addAll(own);
      },
      asks: {
        add: () => own.add({ v: "a" }),
        "add to all": () => addAll(own),
        read: () => own.read(),
        addBatch: () =>
          own.addBatch(
            "source",
            7n,
            VALUES.map((v) => ({ values: { v } })),
          ),
        drain: () => drain.drainOnce(),
        "drain by a service": async () => {
          await drain.start();
          await new Promise((resolve) => setTimeout(resolve, 60));
          await drain.stop();
        },
        "read with the table": () => own.read({ table: sink }),
        "add of another process": async () => {
          const other = made();
          await other.add({ v: "b" }).finally(() => other.close());
        },
        diagnose: () => new CountersDoctor(own, sink).diagnose(),
        repair: () => new CountersDoctor(own, sink).repair(ANY_REPAIR),
        "drain again": () => drain.drainOnce(),
        "repair by a table that is ahead": () =>
          new CountersDoctor(own, { ledger: async () => AHEAD }).repair(ANY_REPAIR),
      },
      async check() {
        const total = async () =>
          (await own.read({ bucket: "day", table: sink, bigint: true })).reduce((sum, row) => sum + row.count, 0n);
        const before = await total();
        await addAll(own);
        await drain.drainOnce();
        await own.add({ v: "a" }, { count: 5 });
        expectEqual("counters: total", (await total()) - before, BigInt(VALUES.length + 5));
      },
      close: () => own.close(),
    };
  },
};

const IDS = ["m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"];

export const queue: Subject = {
  name: "queue",
  called: /queue/i,
  drives: ["DelayQueue"],
  keys: [/^oriel:\{NAME:\d+\}:(times|messages)$/],
  keysOf: (store, name) => timesKeys(store, name, SHARDS).flatMap(keysOfShard),
  open(store, key, _span, isDamaged = false): Driven {
    // A process that stands still for longer than the visibility of its worker's claims uses up deliveries.
    const own = new DelayQueue<unknown>(store, key, { shards: SHARDS, attempts: 30, backoff: 1 });
    const handled = new Set<string>();
    const reported: unknown[] = [];
    let worker: QueueWorker | undefined;
    // A claim that lapses in its last delivery is reported, so none lapses where nothing may be. Damage may claim anything.
    const visibility = isDamaged ? 200 : "10m";
    const work = () => {
      worker ??= own.process(({ id }) => void handled.add(id), { visibility, concurrency: 4 });
      worker.on("error", ({ error }) => void reported.push(error));
      worker.on("dead", ({ error }) => void reported.push(error));
    };
    return {
      reported,
      async seed() {
        await own.add("done", { id: "done" });
        for (const each of await own.claim()) await own.ack(each);
        for (const [i, id] of IDS.entries())
          await own.add({ id, bytes: "x".repeat(20) }, { id, priority: (i >> 1) % 2 });
        await own.add("dies", { id: "dies", attempts: 1, priority: 9 });
        for (const each of await own.claim()) await own.nack(each);
        for (const each of await own.claim({ limit: 2, visibility: 1 })) await own.nack(each, { delay: 0 });
        await own.claim({ limit: 1, visibility: 1 });
        await own.add("later", { id: "later", delay: "1h" });
      },
      asks: {
        peek: () => own.peek(),
        get: () => own.get("m0"),
        counts: () => own.counts(),
        "list of the dead": () => own.dead.list(),
        "claim by hand": async () => {
          for (const each of await own.claim({ limit: 2 })) {
            handled.add(each.id);
            await own.extend(each, "1m");
            await own.ack(each);
          }
        },
        work: async () => {
          work();
          await new Promise((resolve) => setTimeout(resolve, 30));
        },
        add: () => own.add("more", { id: "more" }),
        "add of a known id": () => own.add("more", { id: "m1" }),
        reschedule: () => own.reschedule("later", { delay: "2h" }),
        cancel: () => own.cancel("later"),
        redrive: () => own.dead.redrive(),
        "redrive by id": () => own.dead.redrive({ ids: ["dies"] }),
        "all of the dead": async () => JSON.stringify(await own.dead.list()),
        pause: () => own.pause(),
        resume: () => own.resume(),
      },
      async check() {
        work();
        const id = `new${Math.random()}`;
        await own.add("new", { id });
        await until(`${key}: ${id} is handled`, () => handled.has(id));
        await until(`${key}: all is handled`, () => IDS.every((each) => handled.has(each)));
      },
      async checkSpared(damaged, row) {
        const isHit = keysOfKeys(store, key).map((keys) => keys.some((each) => damaged.includes(each)));
        const spared = IDS.filter((id) => !isHit[shardOf(id, SHARDS)] || (row !== undefined && row !== id));
        work();
        const what = `${key}: ${spared} are handled, ${[...handled]} were`;
        await until(what, () => spared.every((id) => handled.has(id)));
      },
      close: async () => worker?.close(),
    };
  },
};

function keysOfKeys(store: Parameters<typeof timesKeys>[0], name: string): string[][] {
  return timesKeys(store, name, SHARDS).map(keysOfShard);
}

/** The lists of the dashboard, of histories and of the registry. Their errors are those of the store, which name no structure. */
export const lists: Subject = {
  name: "lists",
  called: /./,
  drives: [],
  keys: [/^oriel:\{NAME\}:(structures|processes)(:times)?$/, /^oriel:\{NAME\}:(openings|actions|ring|ids:\d)$/],
  open(store, name): Driven {
    const base = store.keyOf(name);
    const own = { process: "p", version: "1", record: "{}" };
    const structures = [{ field: 'Series "a"', shared: "{}", settings: "{}" }];
    const listed = (table: string) => store.run(list, `${base}:${table}`, "0");
    const seed = async () => {
      await store.run(announce, base, { ...own, structures });
      await store.run(lines, `${base}:openings`, { line: "{}", isWanted: true });
      await store.run(actions, `${base}:actions`, { entry: { id: "1" }, isWanted: false });
      await store.run(denied, `${base}:ids`, { added: new Map([["a", 1]]), isWanted: false });
      await store.run(count, `${base}:ring`, { added: 1, bins: 0 });
    };
    return {
      reported: [],
      seed,
      asks: {
        announce: () => store.run(announce, base, { ...own, structures }),
        "list structures": () => listed("structures"),
        "list processes": () => listed("processes"),
        "deny ids": () => store.run(denied, `${base}:ids`, { added: new Map([["b", 2]]), isWanted: false }),
        count: () => store.run(count, `${base}:ring`, { added: 2, bins: 0 }),
        counts: () => store.run(count, `${base}:ring`, { added: 0, bins: 1080 }),
        "denied ids": () => store.run(denied, `${base}:ids`, { added: new Map(), isWanted: true }),
        openings: () => store.run(lines, `${base}:openings`, { line: "{}", isWanted: true }),
        act: () => store.run(actions, `${base}:actions`, { entry: { id: "2" }, isWanted: false }),
        actions: () => store.run(actions, `${base}:actions`, { entry: undefined, isWanted: true }),
      },
      async check() {
        await seed();
        const fields = (await listed("structures")).entries.map(([field]) => field);
        expectEqual("lists: structures", fields, ['Series "a"']);
      },
      close: async () => {},
    };
  },
};
