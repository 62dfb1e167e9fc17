import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CounterShape, type OracleSinkOptions, oracleSink } from "../../../src/entries/sql.ts";
import { batch, freshShape, row } from "./batches.ts";
import { type OracleCall, OracleDriver, OracleError } from "./oracle-driver.ts";

describe("a sink into recorded Oracle", () => {
  let driver: OracleDriver;
  beforeEach(() => {
    driver = new OracleDriver();
  });
  afterEach(() => driver.close());

  async function made(options?: OracleSinkOptions) {
    const sink = oracleSink(driver, options);
    const shape = freshShape();
    await sink.createTables(shape);
    return { sink, shape };
  }
  const rows = (names: string) => [...names].map((name) => row([name, ""], 1n));
  const next = (generation: number, names: string) => batch(rows(names), { generation, nonce: `g${generation}` });
  /** "UPDATE 3", "INSERT 2", "commit" …: what was sent since the last time, statements on the ledger left out. */
  const sent = () =>
    driver.calls.splice(0).flatMap(({ method, text, rows }: OracleCall) => {
      if (method === "executeMany") return [`${text.slice(0, 6)} ${rows}`];
      return method === "execute" ? [] : [method];
    });
  const counts = async (sink: ReturnType<typeof oracleSink>, shape: CounterShape) =>
    (await sink.read(shape, { bucket: "minute" })).rows.map(({ values, count }) => `${values.site}${count}`).join(" ");

  test("inserts new keys, updates known ones, and corrects wrong guesses", async () => {
    const { sink, shape } = await made();
    sent();
    await sink.apply(shape, next(1, "ab"));
    expect(sent()).toEqual(["INSERT 2", "commit", "close"]);
    await sink.apply(shape, next(2, "ab"));
    expect(sent()).toEqual(["UPDATE 2", "commit", "close"]);
    await sink.apply(shape, next(3, "abc"));
    expect(sent()).toEqual(["UPDATE 2", "INSERT 1", "commit", "close"]);
    const other = oracleSink(driver);
    await other.apply(shape, next(4, "acd"));
    expect(sent()).toEqual(["INSERT 3", "UPDATE 2", "commit", "close"]);
    const connection = await driver.getConnection();
    await connection.execute(`DELETE FROM "${shape.name.toUpperCase()}_COUNTS" WHERE "SITE" = 'b'`, [], {});
    await connection.commit();
    await connection.close();
    sent();
    await sink.apply(shape, next(5, "ab"));
    expect(sent()).toEqual(["UPDATE 2", "INSERT 1", "commit", "close"]);
    expect(await counts(sink, shape)).toBe("a5 b1 c2 d1");
  });

  test("refuses a table with a dimension that its counter does not have, and changes nothing", async () => {
    const sink = oracleSink(driver);
    const shape = freshShape(["site"]);
    const table = `"${shape.name.toUpperCase()}_COUNTS"`;
    const connection = await driver.getConnection();
    const columns = `"BUCKET" VARCHAR2(6 CHAR), "SITE" VARCHAR2(9 CHAR), "LANE" VARCHAR2(9 CHAR) DEFAULT ''\\'', "START_AT" TIMESTAMP(0)`;
    const create = `CREATE TABLE ${table} (${columns}, "COUNT" NUMBER(19), PRIMARY KEY ("BUCKET", "START_AT", "SITE", "LANE"))`;
    await connection.execute(`BEGIN EXECUTE IMMEDIATE '${create}'; EXCEPTION`, [], {});
    await connection.close();
    await sink.createTables(shape);
    const of = (generation: number) => batch([row(["a"], 1n)], { generation, nonce: `g${generation}` });
    expect(await sink.apply(shape, of(1))).toEqual({ status: "applied" });
    const newer = await driver.getConnection();
    await newer.execute(`INSERT INTO ${table} SELECT "BUCKET", "SITE", 'x', "START_AT", 7 FROM ${table}`, [], {});
    await newer.execute(`UPDATE ${table} SET "LANE" = 'y' WHERE "LANE" <> 'x'`, [], {});
    await newer.commit();
    await newer.close();
    await expect(sink.apply(shape, of(2))).rejects.toThrow(/the table has 2 rows of the values .*"a"/);
    expect(await sink.ledger(shape)).toMatchObject([{ generation: 1, events: 1n }]);
    expect((await sink.read(shape, { bucket: "minute" })).rows.map(({ count }) => count).sort()).toEqual([1n, 7n]);
  });

  test("drops the least recently used keys, and remembers no key of a rollback", async () => {
    const { sink, shape } = await made({ knownKeys: 2 });
    await sink.apply(shape, next(1, "abc"));
    sent();
    await sink.apply(shape, next(2, "abc"));
    expect(sent()).toEqual(["UPDATE 2", "INSERT 1", "UPDATE 1", "commit", "close"]);
    driver.before = ({ method }) => {
      if (method === "commit") throw new OracleError(2091, "transaction rolled back");
    };
    await expect(sink.apply(shape, next(3, "x"))).rejects.toMatchObject({ applied: "unknown", transient: true });
    expect(driver.dropped).toBe(1);
    driver.before = () => {};
    sent();
    expect(await sink.apply(shape, next(3, "x"))).toEqual({ status: "applied" });
    expect(sent()).toEqual(["INSERT 1", "commit", "close"]);
    expect(await counts(sink, shape)).toBe("a2 b2 c2 x1");
  });

  test('answers "before" after COMMIT took effect and its answer was lost', async () => {
    const { sink, shape } = await made();
    driver.after = ({ method }) => {
      if (method === "commit") throw new Error("NJS-500: connection to Oracle Database was closed or broken");
    };
    await expect(sink.apply(shape, next(1, "ab"))).rejects.toMatchObject({ applied: "unknown", transient: true });
    driver.after = () => {};
    expect(await sink.apply(shape, next(1, "ab"))).toEqual({ status: "already-applied" });
    expect(await counts(sink, shape)).toBe("a1 b1");
    expect(driver.dropped).toBe(1);
  });

  test.each([
    [new OracleError(60, "deadlock detected while waiting for resource"), "UNAVAILABLE", true],
    [new OracleError(1013, "user requested cancel of current operation"), "DEADLINE", true],
    [new Error("NJS-123: call timeout of 5 ms exceeded"), "DEADLINE", true],
    [new OracleError(1653, "unable to extend table"), "UNAVAILABLE", false],
  ])("rolls everything back at %s", async (error, code, transient) => {
    const { sink, shape } = await made();
    driver.before = ({ method }) => {
      if (method === "executeMany") throw error;
    };
    await expect(sink.apply(shape, next(1, "ab"))).rejects.toMatchObject({
      code,
      transient,
      applied: "no",
      cause: error,
    });
    driver.before = () => {};
    expect(driver.dropped).toBe(0);
    expect(await sink.ledger(shape)).toEqual([]);
    expect(await counts(sink, shape)).toBe("");
  });

  test("drops the connection of a call that is aborted or too late", async () => {
    const { sink, shape } = await made();
    driver.before = ({ method }) =>
      method === "executeMany" ? new Promise((resolve) => setTimeout(resolve, 100)) : undefined;
    await expect(sink.apply(shape, next(1, "ab"), { timeoutMs: 20 })).rejects.toMatchObject({
      code: "DEADLINE",
      applied: "no",
    });
    expect(driver.dropped).toBe(1);
    driver.before = () => {};
    expect(await sink.apply(shape, next(1, "ab"), { timeoutMs: 5000 })).toEqual({ status: "applied" });
  });
});
