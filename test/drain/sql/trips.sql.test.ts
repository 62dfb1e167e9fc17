import { expect, test } from "vitest";
import { mysqlSink, postgresSink } from "../../../src/entries/sql.ts";
import { batch, freshShape, row } from "./batches.ts";

/** The first two words of what was sent; every answer is good. */
function listening() {
  const texts: string[] = [];
  const heads = () => texts.map((text) => text.split(" ").slice(0, 2).join(" "));
  return { texts, heads };
}
const many = batch(Array.from({ length: 10_000 }, (_, i) => row([`site ${i}`, "1"], 1n)));

test("a batch takes PostgreSQL four round trips", async () => {
  const { texts, heads } = listening();
  const connection = {
    query: async ({ text }: { text: string }) => {
      texts.push(text);
      return { command: "COMMIT", rows: [{}] };
    },
    release: () => {},
    on: () => {},
    removeListener: () => {},
  };
  const sink = postgresSink({ connect: async () => connection });
  expect(await sink.apply(freshShape(), many, { timeoutMs: 10_000 })).toEqual({ status: "applied" });
  expect(heads()).toEqual(["BEGIN ISOLATION", "INSERT INTO", "INSERT INTO", "COMMIT"]);
  expect(texts[0]).toMatch(
    /SET LOCAL statement_timeout = [78]\d{3}; SET LOCAL lock_timeout = [78]\d{3}; SET LOCAL idle/,
  );
});

test("a COMMIT that PostgreSQL answers with ROLLBACK is not applied", async () => {
  const released: (boolean | undefined)[] = [];
  const connection = {
    query: async () => ({ command: "ROLLBACK", rows: [{}] }),
    release: (destroy?: boolean) => released.push(destroy),
    on: () => {},
    removeListener: () => {},
  };
  const sink = postgresSink({ connect: async () => connection });
  await expect(sink.apply(freshShape(), many)).rejects.toMatchObject({ applied: "unknown", transient: true });
  expect(released).toEqual([true]);
});

test("a batch takes MariaDB six statements, and one more per half megabyte", async () => {
  const { texts, heads } = listening();
  let released = 0;
  const connection = {
    query: async (text: string): Promise<[unknown, unknown]> => {
      texts.push(text);
      return [{ affectedRows: 1 }, undefined];
    },
    release: () => released++,
    destroy: () => {},
  };
  const sink = mysqlSink({ getConnection: async () => connection });
  expect(await sink.apply(freshShape(), many, { timeoutMs: 10_000 })).toEqual({ status: "applied" });
  expect(heads()).toEqual([
    "SET @oriel_lock_wait",
    "SET TRANSACTION",
    "START TRANSACTION",
    "UPDATE `oriel_ledger`",
    "INSERT INTO",
    "COMMIT",
    "SET SESSION",
  ]);
  expect(released).toBe(1);
});

test("a deadlock in MariaDB starts the transaction again, at most twenty times", async () => {
  const deadlock = Object.assign(new Error("Deadlock found"), { errno: 1213 });
  let inserts = 0;
  let failures = 2;
  const connection = {
    query: async (text: string): Promise<[unknown, unknown]> => {
      if (text.startsWith("INSERT") && inserts++ < failures) throw deadlock;
      return [{ affectedRows: 1 }, undefined];
    },
    release: () => {},
    destroy: () => {},
  };
  const sink = mysqlSink({ getConnection: async () => connection });
  expect(await sink.apply(freshShape(), many)).toEqual({ status: "applied" });
  expect(inserts).toBe(3);
  [inserts, failures] = [0, Number.POSITIVE_INFINITY];
  await expect(sink.apply(freshShape(), many)).rejects.toMatchObject({
    transient: true,
    applied: "no",
    cause: deadlock,
  });
  expect(inserts).toBe(20);
});
