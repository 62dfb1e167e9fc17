import { expect, test } from "vitest";
import { benchSql, SMALL_SQL } from "../../bench/counters/sql.ts";

test("sql: one checked line per writer, load and database", async () => {
  const report = await benchSql(SMALL_SQL);
  expect(report.rows.map(({ database, connections }) => `${database} ${connections}`)).toEqual(
    ["PostgreSQL", "MariaDB"].flatMap((name) => [1, 1, 10, 10].map((connections) => `${name} ${connections}`)),
  );
  for (const row of report.rows) {
    expect(row.rowsPerSecond).toBeGreaterThan(0);
    if (row.writer === "oriel") expect(row.timesSlower).toBe(1);
  }
});
