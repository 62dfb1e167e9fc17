import fc from "fast-check";
import mysql from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mysqlSink } from "../../../src/entries/sql.ts";
import { type MariadbServer, startMariadb } from "../../harness/servers/mariadb.ts";
import { asRead, batch, freshShape, row } from "./batches.ts";

let server: MariadbServer;
const pools: mysql.Pool[] = [];
beforeAll(async () => {
  server = await startMariadb();
});
afterAll(async () => {
  for (const pool of pools) await pool.end();
  await server?.stop();
});

function poolOf(charset: string, more: mysql.PoolOptions = {}): mysql.Pool {
  const pool = mysql.createPool({
    host: "127.0.0.1",
    port: server.port,
    user: "root",
    database: "oriel",
    charset,
    ...more,
  });
  pools.push(pool);
  return pool;
}

const value = fc.oneof(
  fc.constantFrom("北京", "東京", "서울", "é", "ß", "я", "🚲", "?", "??", "a", "", "0x41", "C3A9"),
  fc.string({ maxLength: 6, unit: "binary" }).filter((text) => !text.includes("\0")),
);

describe.each(["latin1_swedish_ci", "cp1251_general_ci", "ascii_general_ci", "utf8_general_ci", "sjis_japanese_ci"])(
  "a connection in %s",
  (charset) => {
    test("writes and reads the same as a connection in utf8mb4", async () => {
      const [odd, plain] = [poolOf(charset), poolOf("utf8mb4_general_ci")];
      await fc.assert(
        fc.asyncProperty(fc.uniqueArray(value, { minLength: 1, maxLength: 12 }), value, async (values, wanted) => {
          const shape = { ...freshShape(["v"]), name: `北京 ${freshShape().name}` };
          const names = { table: "counts_of_all", ledgerTable: "ledger_of_all" };
          const [here, there] = [mysqlSink(odd, names), mysqlSink(plain, names)];
          await here.createTables(shape);
          await plain.query("DELETE FROM counts_of_all");
          const rows = values.map((text, i) => row([text], BigInt(i + 1)));
          expect(await here.apply(shape, batch(rows, { events: 1n }))).toEqual({ status: "applied" });
          for (const query of [{ bucket: "minute" as const }, { bucket: "minute" as const, values: { v: wanted } }]) {
            const known = await there.read(shape, query);
            expect(await here.read(shape, query)).toEqual(known);
            if (!("values" in query))
              expect(new Map(known.rows.map(({ values, count }) => [values.v, count]))).toEqual(
                new Map(rows.map(({ values, count }) => [values[0], count])),
              );
          }
        }),
        { numRuns: 15 },
      );
    });

    test("is refused for table or column names outside ASCII, except in UTF-8", async () => {
      const shape = freshShape(["v"]);
      for (const options of [{ table: "北京" }, { columns: { dimensions: { v: "città" } } }]) {
        const sink = mysqlSink(poolOf(charset), { table: `plain_${charset}`, ...options });
        const calls = [
          () => sink.createTables(shape),
          () => sink.apply(shape, batch([row(["a"], 1n)])),
          () => sink.ledger(shape),
          () => sink.read(shape, { bucket: "minute" }),
        ];
        if (charset.startsWith("utf8")) await sink.createTables(shape);
        else
          for (const call of calls)
            await expect(call()).rejects.toMatchObject({
              code: "ARGUMENT",
              message: expect.stringMatching(/the character set of the connection is \w+, and a name of the table/),
            });
      }
    });
  },
);

test("a pool that returns bytes for text reads the same", async () => {
  const shape = { ...freshShape(["v"]), name: "bytes" };
  const sink = mysqlSink(poolOf("utf8mb4_general_ci", { typeCast: false }));
  await sink.createTables(shape);
  await sink.apply(shape, batch([row(["北京"], 2n)], { events: 2n }));
  const { rows, ledger } = await sink.read(shape, { bucket: "minute" });
  expect(rows).toEqual(asRead(shape, [row(["北京"], 2n)]));
  expect(ledger).toMatchObject([{ generation: 1, events: 2n }]);
});
