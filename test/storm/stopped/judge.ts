import { setTimeout as pause } from "node:timers/promises";
import {
  Counters,
  DelayQueue,
  DrainService,
  FleetMetrics,
  Limiter,
  LockedWindow,
  Series,
  slidingWindow,
} from "../../../src/entries/index.ts";
import { sqliteSink } from "../../../src/entries/sql.ts";
import type { Store } from "../../../src/store/contract.ts";
import { Sqlite } from "../../drain/sql/clients.ts";
import { answered, Books } from "../books.ts";
import { LIMIT, type Orders, type Report, type Span } from "./orders.ts";

interface Case {
  store: Store;
  orders: Pick<Orders, "modes" | "database">;
  books: Books<string | number>;
  /** The notes of each process under this name. */
  all<Note>(name: string): Note[];
  sum(name: string): number;
}

/** Checks the required state, and that no two processes conflicted, after all have ended. */
const LAWS: Record<string, (judged: Case) => Promise<void>> = {
  async series({ store, orders, books, sum }) {
    const modes = { ...orders.modes.series, values: "float64", onStoreError: "throw" } as const;
    const cold = new Series(store, "s", { retention: "10m", ...modes });
    books.settle([...(await answered(() => cold.values()))], sum("givenUp"));
  },
  async lockedWindow({ store, orders, books }) {
    const window = new LockedWindow(store, "w", { span: "10m", ...orders.modes.lockedWindow });
    books.settleCount((await answered(() => window.stats())).count);
  },
  async limiter({ store, books, sum }) {
    const [allowed, unsure] = [sum("allowed"), sum("unsure")];
    const limiter = new Limiter(store, [slidingWindow({ limit: LIMIT, span: "1h" })], { name: "l" });
    const used = LIMIT - (await answered(() => limiter.peek("id"))).remaining;
    if (allowed > LIMIT) books.wrong(`${allowed} were let pass by a limit of ${LIMIT}`);
    if (used < Math.min(allowed, LIMIT) || used > Math.min(allowed + unsure, LIMIT))
      books.wrong(`${used} are taken; ${allowed} were allowed, of ${unsure} nobody knows`);
  },
  async lock({ books, all }) {
    const held = all<Span>("held").sort((a, b) => a.fromMs - b.fromMs);
    if (held.length === 0) books.wrong("nobody ever had it");
    held.forEach((one, i) => {
      const before = held[i - 1];
      if (!before) return;
      if (one.fromMs <= before.toMs)
        books.wrong(`holds ${before.key} and ${one.key} were valid at once for ${before.toMs - one.fromMs} ms`);
      if (one.key <= before.key) books.wrong(`hold ${one.key} came after ${before.key}`);
    });
  },
  async counters({ store, orders, books }) {
    const counters = new Counters(store, "c", { dimensions: ["id"], ...orders.modes.counters });
    books.settle(idsOf(await answered(() => counters.read({ bucket: "day" }))));
  },
  async drain({ store, orders, books, all }) {
    const diverged = all("diverged");
    if (diverged.length > 0) books.wrong(`diverged: ${JSON.stringify(diverged)}`);
    const database = new Sqlite(orders.database);
    const sink = sqliteSink(database);
    const counters = new Counters(store, "d", { dimensions: ["id"], shards: 4 });
    const settle = async () => books.settle(idsOf(await answered(() => counters.read({ bucket: "day", table: sink }))));
    await settle();
    const { failed, diverged: left } = await answered(() => new DrainService({ counters, sink }).drainOnce());
    if (failed + left > 0) books.wrong(`${failed} shards fail, ${left} are left alone`);
    await settle();
    if (idsOf(await answered(() => counters.read({ bucket: "day" }))).length > 0)
      books.wrong("counts stay in the store");
    database.close();
  },
  async queue({ store, orders, books, all }) {
    const queue = new DelayQueue<number>(store, "q", { shards: 2, attempts: 100, ...orders.modes.queue });
    const delivered = all<Span>("delivered").map(({ key }) => key);
    for (let i = 0; i < 100; i++) {
      const { waiting, due, claimed } = await answered(() => queue.counts());
      if (waiting + due + claimed === 0) break;
      const messages = await queue.claim({ limit: 100, visibility: "1m" });
      for (const message of messages) await queue.ack(message);
      delivered.push(...messages.map(({ id }) => id));
      if (messages.length === 0) await pause(20);
    }
    books.settle([...new Set(delivered)]);
    const done = new Map<string | number, number>();
    for (const { key, toMs } of all<Span>("done")) {
      if (done.has(key)) books.wrong(`${key} was done twice`);
      done.set(key, toMs);
    }
    for (const { key, fromMs } of all<Span>("delivered"))
      if (fromMs > (done.get(key) ?? Number.POSITIVE_INFINITY)) books.wrong(`${key} came again after it was done`);
  },
  async fleet({ store, orders, books, sum }) {
    const shape = { sampleCount: 60, interval: "1h", ...orders.modes.fleet } as const;
    const view = await answered(() => new FleetMetrics(store, "f", shape).read("pay"));
    const [success, added, late] = [view.success(Date.now()), sum("added"), sum("late")];
    if (success !== added || late > 0) books.wrong(`${success} are counted of ${added}; ${late} are reported as late`);
  },
};

function idsOf(rows: readonly { values: { id: string }; count: number | bigint }[]): string[] {
  return rows.flatMap(({ values, count }) => Array.from({ length: Number(count) }, () => values.id));
}

/** All violations of the processes and of the state they left. */
export async function judge(reports: readonly Report[], store: Store, orders: Case["orders"]): Promise<string[]> {
  const violations: string[] = [];
  for (const name of Object.keys(reports[0]!)) {
    const reported = reports.map((report) => report[name]!);
    const books = new Books<string | number>(name);
    for (const set of ["acknowledged", "kept", "refused", "unknown"] as const)
      for (const key of reported.flatMap((one) => one[set])) books[set].add(key);
    const all = <Note>(note: string) => reported.flatMap(({ notes }) => notes[note] as Note[]);
    const sum = (note: string) => all<number>(note).reduce((total, one) => total + one, 0);
    await LAWS[name]?.({ store, orders, books, all, sum });
    violations.push(...reported.flatMap((one) => one.violations), ...books.violations);
  }
  return violations;
}
