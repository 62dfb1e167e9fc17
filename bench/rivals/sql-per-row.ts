import type { mysql, pg } from "../../test/drain/sql/clients.ts";

/** Adds to one row of a table (bucket, site, lane, direction, start_at, count) in its own transaction. */
export type AddRow = (site: string, lane: string, direction: string, startMs: number, count: number) => Promise<void>;

/** For each key UPDATE, and INSERT where no row was updated. Each statement is its own transaction. */
export function postgresPerRow(connection: pg.PoolClient, table: string): AddRow {
  const update = {
    name: `update ${table}`,
    text: `UPDATE "${table}" SET "count" = "count" + $5 WHERE "bucket" = 'minute' AND "site" = $1 AND "lane" = $2 AND "direction" = $3 AND "start_at" = $4`,
  };
  const insert = {
    name: `insert ${table}`,
    text: `INSERT INTO "${table}" ("bucket", "site", "lane", "direction", "start_at", "count") VALUES ('minute', $1, $2, $3, $4, $5)`,
  };
  return async (site, lane, direction, startMs, count) => {
    const values = [site, lane, direction, new Date(startMs).toISOString(), count];
    if ((await connection.query({ ...update, values })).rowCount === 0) await connection.query({ ...insert, values });
  };
}

export function mysqlPerRow(connection: mysql.Connection, table: string): AddRow {
  const update = `UPDATE \`${table}\` SET \`count\` = \`count\` + ? WHERE \`bucket\` = 'minute' AND \`site\` = ? AND \`lane\` = ? AND \`direction\` = ? AND \`start_at\` = ?`;
  const insert = `INSERT INTO \`${table}\` (\`count\`, \`bucket\`, \`site\`, \`lane\`, \`direction\`, \`start_at\`) VALUES (?, 'minute', ?, ?, ?, ?)`;
  return async (site, lane, direction, startMs, count) => {
    const start = new Date(startMs).toISOString().slice(0, 19).replace("T", " ");
    const values = [count, site, lane, direction, start];
    const [result] = await connection.execute(update, values);
    if ((result as { affectedRows: number }).affectedRows === 0) await connection.execute(insert, values);
  };
}
