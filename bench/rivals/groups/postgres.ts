import { findPostgres } from "../../../scripts/find-programs.mjs";
import { pg } from "../../../test/drain/sql/clients.ts";
import { startPostgres } from "../../../test/harness/servers/postgres.ts";
import { COLUMNS, type GroupsRival, p99sOfColumns, timed } from "./contract.ts";

const BATCH = 50_000;

/** A table in PostgreSQL, with memory enough to sort it. */
export const postgres: GroupsRival = {
  name: "PostgreSQL percentile_cont",
  missing: () => (findPostgres() ? undefined : "no PostgreSQL; ORIEL_POSTGRES_BIN names one"),
  async open({ values, routes, methods }) {
    const server = await startPostgres({ settings: ["work_mem=256MB", "max_wal_size=4GB"] });
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query("CREATE TABLE events (route int, method int, v float8)");
    for (let from = 0; from < values.length; from += BATCH) {
      const columns = [routes, methods, values].map((column) => [...column.subarray(from, from + BATCH)]);
      await client.query("INSERT INTO events SELECT * FROM unnest($1::int[], $2::int[], $3::float8[])", columns);
    }
    await client.query("ANALYZE events");
    return {
      asks: [
        {
          name: "PostgreSQL percentile_cont",
          rows: ["route", "group"],
          ask: (by) => {
            const columns = COLUMNS[by].join(", ");
            const query = `SELECT ${columns}, percentile_cont(0.99) WITHIN GROUP (ORDER BY v) AS p99 FROM events GROUP BY ${columns}`;
            return timed(
              () => client.query(query),
              ({ rows }) =>
                p99sOfColumns({
                  route: rows.map((row) => row.route),
                  ...(by === "group" && { method: rows.map((row) => row.method) }),
                  p99s: rows.map((row) => row.p99),
                }),
            );
          },
        },
      ],
      async close() {
        await client.end();
        await server.stop();
      },
    };
  },
};
