import { setAside } from "../../src/counters/counter/steps/repairs.ts";
import { appendInGroups, REGROUPED } from "../../src/engine/groups/steps/append-in-groups.ts";
import { intern } from "../../src/engine/groups/steps/intern.ts";
import { HEADER_BYTES } from "../../src/engine/journal/format/chunk.ts";
import { encodeFrame } from "../../src/engine/journal/format/frames.ts";
import { readOutlines } from "../../src/engine/journal/sealed/steps/read-outlines.ts";
import { readParts } from "../../src/engine/journal/sealed/steps/read-parts.ts";
import { SEALED, seal } from "../../src/engine/journal/sealed/steps/seal.ts";
import { read } from "../../src/engine/journal/steps/read.ts";
import { DelayQueue, Lock, MultiSemaphore, ReadWriteLock, Series } from "../../src/entries/index.ts";
import { permitsInUse } from "../../src/holds/semaphore/permit-calls.ts";
import { actions } from "../../src/operate/history/steps/actions.ts";
import { count } from "../../src/operate/history/steps/count.ts";
import { denied } from "../../src/operate/history/steps/denied.ts";
import { lines } from "../../src/operate/history/steps/lines.ts";
import type { Store } from "../../src/store/contract.ts";
import { announce } from "../../src/store/registry/steps/announce.ts";
import { list } from "../../src/store/registry/steps/list.ts";
import { encodeGroups, encodeHeader, knownOf, NOTHING } from "../groups/dictionaries.ts";

/** Runs the steps that calls on undamaged keys do not run, and returns what they answer. */
export async function rareSteps(store: Store, name: string): Promise<Record<string, unknown>> {
  return {
    ...(await readWriteLock(store, name)),
    ...(await operatorSteps(store, name)),
    ...(await registry(store, name)),
    ...(await historySteps(store, name)),
    ...(await permits(store, name)),
    ...(await shardedQueue(store, name)),
    ...(await sealing(store, name)),
    ...(await groups(store, name)),
  };
}

/** The dictionary of the groups of a series, and an append that names a part of it. */
async function groups(store: Store, name: string) {
  const key = store.keyOf(`${name} groups`);
  const input = {
    header: encodeHeader(["route"], 1),
    groups: encodeGroups([["/"]], () => 2),
    lifetimeMs: 60_000,
    spareMs: 0,
  };
  const begun = await store.run(intern, key, { ...input, known: NOTHING });
  const added = await store.run(intern, key, { ...input, known: knownOf(begun.bytes) });
  const { nowMs } = await store.run(read, key, "header");
  const { status } = await store.run(appendInGroups, key, {
    ...{ valueType: 5, clock: 0, retentionMs: 60_000, voidAfterMs: nowMs + 10_000, birth: 1, known: "none" },
    frames: [encodeFrame(1, 1, Float64Array.of(2))],
    guard: knownOf(new Uint8Array([...begun.bytes, ...added.bytes])),
  });
  const isRegrouped = status === REGROUPED;
  return { lengths: [begun.length, added.length], from: added.from, isRegrouped };
}

/** A seal of a chunk that is not there, and parts of one that is not sealed. */
async function sealing(store: Store, name: string) {
  const status = await store.run(seal, store.keyOf(`${name} sealed`), {
    bytes: new Uint8Array(HEADER_BYTES),
    length: HEADER_BYTES,
    nextBirth: 1,
  });
  const key = store.keyOf(`${name} outlined`);
  const series = new Series(store, `${name} outlined`, { retention: "1m" });
  await series.recordMany([1, 2, 3]);
  const fresh = new Series(store, `${name} outlined`, { retention: "1m" });
  const { count } = await fresh.recordAndGet(4);
  await fresh.close();
  const window = { spanMs: 60_000, fromMs: Number.POSITIVE_INFINITY, maxBytes: 1 << 20, atMs: undefined } as const;
  const outlines = await store.run(readOutlines, key, { ...window, closed: "both", hasPercentiles: true });
  const parts = await store.run(readParts, key, { birth: outlines.header!.birth, checksum: 1, parts: [[0, 8]] });
  await series.close();
  return { isMissing: status === SEALED.missing, count, length: outlines.length, isChanged: parts === undefined };
}

async function shardedQueue(store: Store, name: string) {
  const queue = new DelayQueue(store, `${name} queue`, { shards: 3 });
  const added = await queue.addBulk(["a", "b", "c"].map((id) => ({ payload: id, id, delay: "1h" })));
  return { added, counts: await queue.counts() };
}

async function permits(store: Store, name: string) {
  const held = await new MultiSemaphore(store, `${name} permits`, { limit: 2 }).acquire(2, { lease: "1m" });
  const { count, holds } = await permitsInUse(store, `${name} permits`);
  await held.release();
  return { count, permits: holds.map((hold) => hold.permits) };
}

async function registry(store: Store, name: string) {
  const base = store.keyOf(`${name} registry`);
  const own = (shared: string) => [{ field: 'Series "a"', shared, settings: "{}" }];
  const first = await store.run(announce, base, { process: "a", version: "1", record: "{}", structures: own("{}") });
  const next = await store.run(announce, base, {
    process: "b",
    version: "1",
    record: "{}",
    structures: own('{"a":1}'),
  });
  const { entries } = await store.run(list, `${base}:structures`, "0");
  const withoutTimes = entries.map(([field, record]) => [field, record.replace(/^\d{10,}$/gm, "ms")]);
  const others = [first, next].map((reply) => reply.others.map((other) => other && { ...other, ms: 0 }));
  return { others, listed: withoutTimes };
}

async function readWriteLock(store: Store, name: string) {
  const lock = new ReadWriteLock(store, name);
  const readers = [await lock.read.tryLock(), await lock.read.tryLock()];
  const shut = await lock.write.tryLock();
  const extended = await readers[0]!.extend("1m");
  const released = [await readers[0]!.release(), await readers[1]!.release()];
  const writer = await lock.write.tryLock();
  const fences = [...readers, writer].map((held) => held!.fence);
  const isAscending = fences.every((fence, i) => i === 0 || fence > fences[i - 1]!);
  return { isAscending, shut, extended, released, isWriterReleased: await writer!.release() };
}

async function operatorSteps(store: Store, name: string) {
  const lock = new Lock(store, name);
  const held = await lock.tryLock({ lease: "1m" });
  const { fence } = await lock.inspect();
  const forced = await lock.forceRelease({ fence: held!.fence });
  const isHeld = await lock.isHeld();
  const key = store.keyOf(`${name} shard`);
  const isAside = await store.run(setAside, key, { aside: `${key}:aside`, seen: "hash - -" });
  return { isSeen: fence === held!.fence, forced, isHeld, isAside };
}

async function historySteps(store: Store, name: string) {
  const key = store.keyOf(`${name} openings`);
  for (const line of ["reset é", "reset é", "block"]) await store.run(lines, key, { line, isWanted: false });
  const { list } = await store.run(lines, key, { line: "", isWanted: true });
  const log = store.keyOf(`${name} actions`);
  for (const target of ["é", "é", ""]) await store.run(actions, log, { entry: { target }, isWanted: false });
  const done = await store.run(actions, log, { entry: undefined, isWanted: true });
  const base = store.keyOf(`${name} ids`);
  for (const id of ["a", "b", "a", "é𝄞"]) await store.run(denied, base, { added: new Map([[id, 2]]), isWanted: false });
  const ids = await store.run(denied, base, { added: new Map(), isWanted: true });
  const ring = store.keyOf(`${name} ring`);
  for (const added of [3, 2 ** 40]) await store.run(count, ring, { added, bins: 0 });
  const { bins } = await store.run(count, ring, { added: 0, bins: 1080 });
  return {
    ids: [...ids],
    // The bins of two times, if one ended between the calls.
    count: bins.reduce((sum, bin) => sum + bin.count, 0),
    done: done.map(([, fields]) => fields),
    lines: list.split("\n").map((line) => line.replace(/^\d+ /, "")),
  };
}
