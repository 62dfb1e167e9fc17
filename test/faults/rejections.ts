import type { Store } from "../../src/entries/index.ts";
import * as oriel from "../../src/entries/index.ts";
import { MultiSemaphore, Semaphore } from "../../src/entries/structures/semaphore.ts";

/** A call that asks the store, and what its rejection must say. */
export interface Asking {
  /** "Series.stats", and how where there are several ways. */
  readonly called: string;
  /** Makes the object while the store is well, under the name that the error must name. */
  open(store: Store, name: string): unknown;
  call(object: never): Promise<unknown>;
  /** True where it changes nothing that counts: its error says "no", even where the answer is lost. */
  readonly isQuestion: boolean;
  /** Of the message, where it is not that of `called`. */
  readonly structure?: string;
}

const row = <T>(
  called: string,
  isQuestion: boolean,
  open: (store: Store, name: string) => T | Promise<T>,
  call: (object: T) => Promise<unknown>,
  structure?: string,
): Asking => ({ called, isQuestion, open, call: call as Asking["call"], ...(structure && { structure }) });
const [ASKS, CHANGES] = [true, false];

const policy = oriel.slidingWindow({ limit: 10, span: "1m" });
const TABLE = {
  ledger: async () => [],
  createTables: async () => {},
  ddl: () => [],
  apply: async () => ({ status: "applied" }),
  read: async () => ({ ledger: [], rows: [] }),
} as never;

const group = (store: Store, name: string) => new oriel.SeriesGroup(store, name, { labels: ["a"] });
/** As `warm`. It knows the number of its group. */
async function warmGroup(store: Store, name: string) {
  const it = group(store, name);
  await it.record(1, { a: "b" });
  return it;
}
const series = (store: Store, name: string) => new oriel.Series(store, name);
const sharded = async (store: Store, name: string) => {
  const it = new oriel.ShardedSeries(store, name, { shards: 2 });
  for (let shard = 0; shard < 2; shard++) await it.record(1);
  return it;
};
const shardedGroup = async (store: Store, name: string) => {
  const it = new oriel.ShardedSeriesGroup(store, name, { labels: ["a"], shards: 2 });
  for (let shard = 0; shard < 2; shard++) await it.record(1, { a: "b" });
  return it;
};
/** One that has asked what it asks but once: from then on a change is the first request of its call. */
async function warm(store: Store, name: string) {
  const it = series(store, name);
  await it.record(1);
  return it;
}
const locked = (store: Store, name: string) => new oriel.LockedWindow(store, name, { span: "1m", wait: 1 });
const limiter = (store: Store, name: string) => new oriel.Limiter(store, [policy], { name });
const reservation = (store: Store, name: string) => limiter(store, name).reserve("x", { cost: 1, lease: "1m" });
async function lent(store: Store, name: string) {
  const it = new oriel.Limiter(store, [oriel.concurrency({ limit: 5, lease: "1m" })], { name });
  const { permit } = await it.take("x");
  return { it, permit: permit! };
}
const lock = (store: Store, name: string) => new oriel.Lock(store, name);
const held = async (store: Store, name: string) => (await lock(store, name).tryLock({ lease: "1m" }))!;
const lockSet = (store: Store, name: string) => oriel.Lock.all([lock(store, name)]);
const heldSet = async (store: Store, name: string) => (await lockSet(store, name).tryLock({ lease: "1m" }))!;
const readWriteLock = (store: Store, name: string) => new oriel.ReadWriteLock(store, name);
const semaphore = (store: Store, name: string) => new Semaphore(store, name, { limit: 2 });
const multiSemaphore = (store: Store, name: string) => new MultiSemaphore(store, name, { limit: 2 });
const breaker = (store: Store, name: string) => new oriel.Breaker(store, { name, span: "1m", failures: 3 });
const queue = (store: Store, name: string) => new oriel.DelayQueue(store, name, { shards: 1 });
const counters = (store: Store, name: string) => new oriel.Counters(store, name, { dimensions: ["a"], shards: 1 });
async function agreed(store: Store, name: string) {
  const it = counters(store, name);
  await it.add({ a: "1" });
  return it;
}
const doctor = (store: Store, name: string) => new oriel.CountersDoctor(counters(store, name), TABLE);
const drain = (store: Store, name: string, more: object = {}) =>
  new oriel.DrainService({ counters: counters(store, name), sink: TABLE, ...more });

async function claimed(store: Store, name: string) {
  const it = queue(store, name);
  await it.add("x");
  const [message] = await it.claim({ visibility: "1m" });
  return { it, message: message! };
}

function fleet(store: Store, name: string) {
  const it = new oriel.FleetMetrics(store, name, { flush: "1h", percentiles: true });
  it.metric("m").recordSuccess(5);
  return it;
}

/** Each public method that asks the store, on its own object. */
export const ASKINGS: readonly Asking[] = [
  row("Series.record", CHANGES, warm, (it) => it.record(1)),
  row("Series.record with options", CHANGES, warm, (it) => it.record(1, { at: Date.now() })),
  row("Series.recordMany", CHANGES, warm, (it) => it.recordMany([1, 2])),
  row("Series.recordAndGet", CHANGES, warm, (it) => it.recordAndGet(1)),
  row("Series.stats", ASKS, series, (it) => it.stats()),
  row("Series.stats with maxAge", ASKS, series, (it) => it.stats({ maxAge: 1 })),
  row("Series.values", ASKS, series, (it) => it.values()),
  row("Series.fractionBelow", ASKS, series, (it) => it.fractionBelow(1)),
  row("Series.ranks", ASKS, series, (it) => it.ranks([1])),
  row("Series.histogram", ASKS, series, (it) => it.histogram({ bounds: [1] })),
  row("Series.compare", ASKS, series, (it) => it.compare({ span: "1m", before: "1m" })),
  row("Series.timeline", ASKS, series, (it) => it.timeline({ every: "1m" })),
  row("Series.delete", CHANGES, series, (it) => it.delete()),
  row("SeriesGroup.record", CHANGES, warmGroup, (it) => it.record(1, { a: "b" })),
  // The names of new groups go before the events. Without an answer to them, no event is sent.
  row("SeriesGroup.record with a new group", ASKS, warmGroup, (it) => it.record(1, { a: "new" })),
  row("SeriesGroup.record with options", CHANGES, warmGroup, (it) => it.record(1, { a: "b" }, { at: Date.now() })),
  row("SeriesGroup.stats", ASKS, group, (it) => it.stats()),
  row("SeriesGroup.top", ASKS, group, (it) => it.top(1)),
  row("SeriesGroup.delete", CHANGES, group, (it) => it.delete()),
  row("ShardedSeries.record", CHANGES, sharded, (it) => it.record(1)),
  row("ShardedSeries.record with options", CHANGES, sharded, (it) => it.record(1, { at: Date.now() })),
  row("ShardedSeries.recordMany", CHANGES, sharded, (it) => it.recordMany([1, 2])),
  row("ShardedSeries.recordAndGet", CHANGES, sharded, (it) => it.recordAndGet(1)),
  row("ShardedSeries.stats", ASKS, sharded, (it) => it.stats()),
  row("ShardedSeries.values", ASKS, sharded, (it) => it.values()),
  row("ShardedSeries.fractionBelow", ASKS, sharded, (it) => it.fractionBelow(1)),
  row("ShardedSeries.ranks", ASKS, sharded, (it) => it.ranks([1])),
  row("ShardedSeries.histogram", ASKS, sharded, (it) => it.histogram({ bounds: [1] })),
  row("ShardedSeries.compare", ASKS, sharded, (it) => it.compare({ span: "1m", before: "1m" })),
  row("ShardedSeries.timeline", ASKS, sharded, (it) => it.timeline({ every: "1m" })),
  row("ShardedSeries.delete", CHANGES, sharded, (it) => it.delete()),
  row("ShardedSeriesGroup.record", CHANGES, shardedGroup, (it) => it.record(1, { a: "b" })),
  row("ShardedSeriesGroup.stats", ASKS, shardedGroup, (it) => it.stats()),
  row("ShardedSeriesGroup.top", ASKS, shardedGroup, (it) => it.top(1)),
  row("ShardedSeriesGroup.delete", CHANGES, shardedGroup, (it) => it.delete()),
  row("Series.static stats", ASKS, series, (it) => oriel.Series.stats([it])),
  row("Series.static timeline", ASKS, series, (it) => oriel.Series.timeline([it], { every: "1m" })),
  row("LockedWindow.addAndGetStats", CHANGES, locked, (it) => it.addAndGetStats(1)),
  row("LockedWindow.stats", ASKS, locked, (it) => it.stats()),
  row("Limiter.take", CHANGES, limiter, (it) => it.take("x")),
  row("Limiter.take with options", CHANGES, limiter, (it) => it.take("x", { cost: 2, requestId: "r" })),
  row("Limiter.peek", ASKS, limiter, (it) => it.peek("x")),
  row("Limiter.acquire", CHANGES, limiter, (it) => it.acquire("x", { wait: 0 })),
  row("Limiter.penalty", CHANGES, limiter, (it) => it.penalty("x")),
  row("Limiter.reward", CHANGES, limiter, (it) => it.reward("x")),
  row("Limiter.block", CHANGES, limiter, (it) => it.block("x", "1m")),
  row("Limiter.reset", CHANGES, limiter, (it) => it.reset("x")),
  row("Limiter.release", CHANGES, lent, ({ it, permit }) => it.release("x", permit)),
  row("Limiter.reserve", CHANGES, limiter, (it) => it.reserve("x", { cost: 1, lease: "1m" })),
  row("Limiter.static takeAll", CHANGES, limiter, (it) =>
    oriel.Limiter.takeAll([{ limiter: it, id: "x" }], { tag: "t" }),
  ),
  row("Limiter.static reserveAll", CHANGES, limiter, (it) =>
    oriel.Limiter.reserveAll([{ limiter: it, id: "x" }], { tag: "t", lease: "1m" }),
  ),
  row("Reservation.charge", CHANGES, reservation, (it) => it.charge(1), "Limiter"),
  row("Reservation.settle", CHANGES, reservation, (it) => it.settle(1), "Limiter"),
  row("Reservation.cancel", CHANGES, reservation, (it) => it.cancel(), "Limiter"),
  row("Lock.tryLock", CHANGES, lock, (it) => it.tryLock()),
  row("Lock.withLock", CHANGES, lock, (it) => it.withLock(() => 1, { wait: 0 })),
  row("Lock.isHeld", ASKS, lock, (it) => it.isHeld()),
  row("Lock.inspect", ASKS, lock, (it) => it.inspect()),
  row("Lock.forceRelease", CHANGES, lock, (it) => it.forceRelease()),
  row("LockSet.tryLock", CHANGES, lockSet, (it) => it.tryLock(), "Lock"),
  row("LockSet.withLock", CHANGES, lockSet, (it) => it.withLock(() => 1, { wait: 0 }), "Lock"),
  row("HeldLocks.extend", CHANGES, heldSet, (it) => it.extend("2m"), "Lock"),
  row("HeldLocks.release", CHANGES, heldSet, (it) => it.release(), "Lock"),
  row("ReadWriteLock.read.tryLock", CHANGES, readWriteLock, (it) => it.read.tryLock()),
  row("ReadWriteLock.read.withLock", CHANGES, readWriteLock, (it) => it.read.withLock(() => 1, { wait: 0 })),
  row("ReadWriteLock.write.tryLock", CHANGES, readWriteLock, (it) => it.write.tryLock({ wait: 1 })),
  row("ReadWriteLock.write.withLock", CHANGES, readWriteLock, (it) => it.write.withLock(() => 1, { wait: 1 })),
  row("Semaphore.tryAcquire", CHANGES, semaphore, (it) => it.tryAcquire()),
  row("Semaphore.acquire", CHANGES, semaphore, (it) => it.acquire({ wait: 1 })),
  row("Semaphore.withPermit", CHANGES, semaphore, (it) => it.withPermit(() => 1, { wait: 1 })),
  row("MultiSemaphore.tryAcquire", CHANGES, multiSemaphore, (it) => it.tryAcquire(2)),
  row("MultiSemaphore.acquire", CHANGES, multiSemaphore, (it) => it.acquire(2, { wait: 1 })),
  row("MultiSemaphore.withPermits", CHANGES, multiSemaphore, (it) => it.withPermits(2, () => 1, { wait: 1 })),
  row("HeldLock.extend", CHANGES, held, (it) => it.extend("2m"), "Lock"),
  row("HeldLock.release", CHANGES, held, (it) => it.release(), "Lock"),
  row("Breaker.flush", CHANGES, breaker, (it) => it.flush()),
  row("Breaker.open", CHANGES, breaker, (it) => it.open()),
  row("Breaker.close", CHANGES, breaker, (it) => it.close()),
  row("Breaker.reset", CHANGES, breaker, (it) => it.reset()),
  row("DelayQueue.add", CHANGES, queue, (it) => it.add("x")),
  row("DelayQueue.addBulk", CHANGES, queue, (it) => it.addBulk([{ payload: "x" }])),
  row("DelayQueue.cancel", CHANGES, queue, (it) => it.cancel("i")),
  row("DelayQueue.reschedule", CHANGES, queue, (it) => it.reschedule("i", { delay: "1s" })),
  row("DelayQueue.get", ASKS, queue, (it) => it.get("i")),
  row("DelayQueue.counts", ASKS, queue, (it) => it.counts()),
  row("DelayQueue.lag", ASKS, queue, (it) => it.lag()),
  row("DelayQueue.peek", ASKS, queue, (it) => it.peek()),
  row("DelayQueue.pause", CHANGES, queue, (it) => it.pause()),
  row("DelayQueue.resume", CHANGES, queue, (it) => it.resume()),
  row("DelayQueue.claim", CHANGES, queue, (it) => it.claim()),
  row("DelayQueue.ack", CHANGES, claimed, ({ it, message }) => it.ack(message)),
  row("DelayQueue.nack", CHANGES, claimed, ({ it, message }) => it.nack(message)),
  row("DelayQueue.extend", CHANGES, claimed, ({ it, message }) => it.extend(message, "2m")),
  row("DeadLetters.list", ASKS, queue, (it) => it.dead.list(), "DelayQueue"),
  row("DeadLetters.redrive", CHANGES, queue, (it) => it.dead.redrive(), "DelayQueue"),
  row("Counters.add", CHANGES, agreed, (it) => it.add({ a: "1" })),
  row("Counters.addBatch", CHANGES, agreed, (it) => it.addBatch("s", 0, [{ values: { a: "1" } }])),
  row("Counters.read", ASKS, counters, (it) => it.read()),
  row("Counters.read with a table", ASKS, counters, (it) => it.read({ table: TABLE })),
  row("CountersDoctor.diagnose", ASKS, doctor, (it) => it.diagnose()),
  row("CountersDoctor.layout", ASKS, doctor, (it) => it.layout()),
  row("CountersDoctor.repair", CHANGES, doctor, (it) => it.repair()),
  row(
    "DrainService.drainOnce with a lock",
    CHANGES,
    (store, name) => drain(store, name, { lock: new oriel.Lock(store, name) }),
    (it) => it.drainOnce(),
  ),
  row("FleetMetrics.flush", CHANGES, fleet, (it) => it.flush()),
  row("FleetMetrics.read", ASKS, fleet, (it) => it.read("m")),
  row("FleetMetrics.readAll", ASKS, fleet, (it) => it.readAll()),
  row("FleetMetrics.latencyPercentilesMs", ASKS, fleet, (it) => it.latencyPercentilesMs("m", [99])),
  row("FleetMetrics.close", CHANGES, fleet, (it) => it.close()),
];

/** Methods of which no rejection comes from the store, and why. */
export const SILENT: Record<string, string> = {
  "Series.observe": "tells store.on(error): test/series/observe.own.test.ts",
  "Series.close": "waits for what was recorded, whose calls reject",
  "Lock.static all": "sends nothing",
  "Series.explain": "sends nothing",
  "ShardedSeries.observe": "tells store.on(error): test/shards/observe.test.ts",
  "ShardedSeries.close": "waits for what was recorded, whose calls reject",
  "ShardedSeriesGroup.observe": "tells store.on(error): test/shards/observe.test.ts",
  "ShardedSeriesGroup.close": "waits for what was recorded, whose calls reject",
  "SeriesGroup.observe": "tells store.on(error): test/groups/options.test.ts",
  "SeriesGroup.close": "waits for what was recorded, whose calls reject",
  "HeldLock.assertHeld": "sends nothing",
  "HeldLocks.assertHeld": "sends nothing",
  "Breaker.run": "goes on alone while the store is away: test/breaker",
  "Breaker.ready": "resolves although the store is away: test/breaker/formats.test.ts",
  "Breaker.stats": "asks no store",
  "Breaker.on": "asks no store",
  "Breaker.disable": "asks no store",
  "Breaker.enable": "asks no store",
  "DelayQueue.process": "the worker emits errors to its listeners",
  "QueueWorker.on": "asks no store",
  "QueueWorker.close": "what it cannot give back comes again after its visibility",
  "Counters.check": "asks no store",
  "Counters.close": "waits for added events, whose calls reject",
  "DrainService.drainOnce": "reports shards that it could not drain in its result and to its listeners",
  "DrainService.on": "asks no store",
  "DrainService.start": "asks the table only: test/drain/faults/database-away.sql.test.ts",
  "DrainService.stop": "what it cannot give back ends with its lease",
  "FleetMetrics.on": "asks no store",
  "FleetMetrics.metric": "asks no store",
  "FleetMetrics.totals": "asks no store",
};

/** Objects that a call makes, and their classes are not exported. */
export async function madeObjects(store: Store): Promise<Record<string, object>> {
  const worker = queue(store, "w").process(() => 1);
  await worker.close();
  return {
    HeldLock: await held(store, "made"),
    LockSet: lockSet(store, "made"),
    HeldLocks: await heldSet(store, "made set"),
    Reservation: await reservation(store, "made"),
    DeadLetters: queue(store, "made").dead,
    QueueWorker: worker,
  };
}
