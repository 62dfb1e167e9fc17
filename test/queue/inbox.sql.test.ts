import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TIMERS, type Timers } from "../../src/base/async/timers.ts";
import { DelayQueue, type Job, memoryStore, redisStore } from "../../src/entries/index.ts";
import { type InboxTransaction, inboxOnce, inboxTable } from "../../src/queue/inbox.ts";
import { mysql, pg } from "../drain/sql/clients.ts";
import { startChild } from "../harness/child.ts";
import { type MariadbServer, startMariadb } from "../harness/servers/mariadb.ts";
import { type PostgresServer, startPostgres } from "../harness/servers/postgres.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { type Dialect, type InboxDatabase, type Open, openDatabase } from "./inbox-databases.ts";

const CHILD = new URL("inbox-child.ts", import.meta.url);
const SOON = { first: 1, factor: 1 };

let redis: RedisServer;
let postgres: PostgresServer;
let mariadb: MariadbServer;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "oriel-inbox-"));
  [redis, postgres, mariadb] = await Promise.all([startRedis({ tcp: true }), startPostgres(), startMariadb()]);
});
afterAll(async () => {
  await Promise.all([redis?.stop(), postgres?.stop(), mariadb?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

let queues = 0;
function openQueue(name: string, timers?: Timers) {
  const store = redisStore(redis.url);
  ends.push(() => store.close());
  return new DelayQueue<string>(store, name, { backoff: SOON, attempts: 100 }, timers);
}

/** Makes the effect where it is still to be made; whether it was. */
async function handle(job: Job<string>, { transaction, effect }: Open): Promise<boolean> {
  const isOurs = await job.once(transaction);
  if (isOurs) await effect(job.id);
  return isOurs;
}

describe.each<Dialect>(["postgres", "mysql", "sqlite"])("in %s", (dialect) => {
  let database: InboxDatabase;
  let address: string;
  let name: string;
  let queue: DelayQueue<string>;
  beforeAll(async () => {
    address = { postgres: postgres.url, mysql: String(mariadb.port), sqlite: join(folder, "inbox.db") }[dialect];
    database = await openDatabase(dialect, address);
  });
  afterAll(() => database?.close());
  beforeEach(() => {
    name = `mails ${++queues}`;
    queue = openQueue(name);
  });

  /** Works until the queue is empty. Returns the reports of the handlers. */
  async function workOff(handler: (job: Job<string>) => Promise<unknown>, of = queue): Promise<void> {
    const worker = of.process(handler);
    await until("all is handled", async () => {
      const { waiting, due, claimed, dead } = await queue.counts();
      return waiting + due + claimed + dead === 0;
    });
    await worker.close();
  }

  test("a handler that throws after its commit has its effect once", async () => {
    const { id } = await queue.add("a");
    const reported: boolean[] = [];
    await workOff(async (job) => {
      reported.push(await database.transact((open) => handle(job, open)));
      if (job.attempt < 3) throw new Error("after the commit");
    });
    expect(reported).toEqual([true, false, false]);
    expect((await database.effects()).filter((each) => each === id)).toEqual([id]);
  });

  test("an effect that is rolled back happens again", async () => {
    const { id } = await queue.add("a");
    const reported: boolean[] = [];
    await workOff((job) =>
      database.transact(async (open) => {
        reported.push(await handle(job, open));
        if (job.attempt < 3) throw new Error("before the commit");
      }),
    );
    expect(reported).toEqual([true, true, true]);
    expect((await database.effects()).filter((each) => each === id)).toEqual([id]);
  });

  test.each(["commits", "rolls back"])(
    "the effect happens once while another delivery with a lapsed claim runs, which then %s",
    async (how) => {
      const { id } = await queue.add("a");
      const reported: [number, boolean][] = [];
      let end!: () => void;
      const mayEnd = new Promise<void>((resolve) => {
        end = resolve;
      });
      let isStuck = true;
      const stuck: Timers = { ...TIMERS, after: (ms, run) => (isStuck ? () => {} : TIMERS.after(ms, run)) };
      const lapsing = openQueue(name, stuck).process(
        (job) =>
          database.transact(async (open) => {
            reported.push([job.attempt, await handle(job, open)]);
            await mayEnd;
            if (how === "rolls back") throw new Error("before the commit");
          }),
        { visibility: 100 },
      );
      const lost: string[] = [];
      lapsing.on("lost", (event) => lost.push(event.id));
      await until("the first delivery is in its transaction", () => reported.length === 1);
      let closing: Promise<void> | undefined;
      await workOff(async (job) => {
        const makes = database.transact((open) => handle(job, open));
        isStuck = false;
        closing ??= lapsing.close();
        end();
        reported.push([job.attempt, await makes]);
      });
      await closing;
      expect(reported[0]).toEqual([1, true]);
      // SQLite refuses a transaction beside another one: that delivery fails, and comes again.
      expect(reported.at(-1)![1]).toBe(how === "rolls back");
      expect(reported).toHaveLength(2);
      expect(reported.at(-1)![0]).toBeGreaterThan(1);
      expect(lost).toEqual([id]);
      expect((await database.effects()).filter((each) => each === id)).toEqual([id]);
    },
  );

  test("a worker killed between commit and acknowledgement has had its effect", async () => {
    const { id } = await queue.add("a");
    const child = startChild(CHILD, [redis.url, name, dialect, address]);
    await child.printed(1);
    await child.kill();
    expect(child.lines).toEqual(["true"]);
    const reported: [number, boolean][] = [];
    await workOff(
      async (job) => void reported.push([job.attempt, await database.transact((open) => handle(job, open))]),
    );
    expect(reported).toEqual([[2, false]]);
    expect((await database.effects()).filter((each) => each === id)).toEqual([id]);
  });

  test("a connection whose transaction has not begun, or is over, is refused, and nothing is written", async () => {
    const { id } = await queue.add("a");
    const refused = { code: "ARGUMENT", message: expect.stringMatching(/^transaction is .* has begun$/) };
    await expect(database.outside(({ transaction }) => inboxOnce(transaction, name, id))).rejects.toMatchObject(
      refused,
    );
    await database.outside(async ({ transaction, say }) => {
      await say("BEGIN");
      expect(await inboxOnce(transaction, name, "other")).toBe(true);
      await say("ROLLBACK");
      await expect(inboxOnce(transaction, name, id)).rejects.toMatchObject(refused);
    });
    await workOff((job) => database.transact((open) => handle(job, open)));
    expect((await database.effects()).filter((each) => each === id)).toEqual([id]);
  });

  test("ids and queues that look alike have separate effects", async () => {
    const ids = ["e", "E", "é", "e ", " e", "e\t", "𝄞".repeat(511), "𝄞".repeat(512), `${"𝄞".repeat(511)}𝄢`];
    const names = ["𝄞".repeat(128), `${"𝄞".repeat(127)}𝄢`, name, `${name} `];
    for (const each of names)
      for (const round of [true, false])
        for (const id of ids)
          expect(await database.transact(({ transaction }) => inboxOnce(transaction, each, id))).toBe(round);
  });
});

test("a connection with another character set distinguishes ids too", async () => {
  const client = await mysql.createConnection({
    host: "127.0.0.1",
    port: mariadb.port,
    user: "root",
    database: "oriel",
    charset: "latin1",
  });
  ends.push(() => client.end());
  await client.beginTransaction();
  const made = [];
  for (const id of ["𝄞", "𝄢", "𝄞"]) made.push(await inboxOnce(client, "latin", id));
  expect(made).toEqual([true, true, false]);
});

test("a client of an older pg, which does not know its transaction, asks the server", async () => {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  ends.push(() => client.end());
  await client.query(inboxTable("postgres"));
  const query = (text: string, values?: string[]) => client.query(text, values);
  await client.query("BEGIN");
  expect([await inboxOnce({ query }, "older", "a"), await inboxOnce({ query }, "older", "a")]).toEqual([true, false]);
  await client.query("COMMIT");
  await expect(inboxOnce({ query }, "older", "b")).rejects.toMatchObject({ code: "ARGUMENT" });
});

describe("the inbox refuses", () => {
  const nothing = { query: () => Promise.reject(new Error("something was sent")) } as InboxTransaction;

  test.each([
    ["a name that the table's key cannot hold", "n".repeat(129)],
    ["a name with NUL", "a\0b"],
  ])("%s", async (_, name) => {
    const queue = new DelayQueue(memoryStore(), name);
    await queue.add("a");
    const refused = new Promise<unknown>((resolve) => {
      const worker = queue.process((job) => job.once(nothing).catch(resolve));
      ends.push(() => worker.close());
    });
    expect(await refused).toMatchObject({
      code: "ARGUMENT",
      message: expect.stringMatching(
        /^Job ".*" once: name is ".*; it must be at most 128 characters, without NUL, where job\.once is called$/s,
      ),
    });
  });

  test("a pool, which has no transaction, and any value that is no connection", async () => {
    const pools = [new pg.Pool(), mysql.createPool({})];
    ends.push(() => Promise.all(pools.map((pool) => pool.end())));
    for (const pool of pools)
      await expect(inboxOnce(pool as InboxTransaction, "mails", "a")).rejects.toThrow(/^transaction is a .*not a pool/);
    for (const wrong of [undefined, null, 5, {}])
      await expect(inboxOnce(wrong as unknown as InboxTransaction, "mails", "a")).rejects.toMatchObject({
        code: "ARGUMENT",
      });
    await expect(inboxOnce(nothing, "mails", "a", { table: "a; b" })).rejects.toMatchObject({ code: "ARGUMENT" });
  });
});
