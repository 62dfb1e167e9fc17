/**
 * Entry `oriel/sql`: sinks for the counts of counters: PostgreSQL, MariaDB, MySQL, SQLite, Oracle. It imports no driver
 * and no kernel.
 *
 * @module oriel/sql
 */

export type { BucketName } from "../base/calendar.ts";
export {
  type ErrorSite as ErrorPlace,
  OrielError,
  type OrielErrorCode,
  type OrielErrorOptions,
} from "../base/errors.ts";
export type { CounterRow, CounterShape, CountRow, LedgerRow, RowsQuery } from "../counters/counter/table.ts";
export type { SinkOptions } from "../counters/drain/sql/layout.ts";
export { mysqlSink } from "../counters/drain/sql/mysql/mysql.ts";
export type { MysqlConnection, MysqlPool } from "../counters/drain/sql/mysql/mysql-session.ts";
export { type OracleSinkOptions, oracleSink } from "../counters/drain/sql/oracle/oracle.ts";
export type { OracleConnection, OracleManyResult, OraclePool } from "../counters/drain/sql/oracle/oracle-session.ts";
export { type PostgresConnection, type PostgresPool, postgresSink } from "../counters/drain/sql/postgres/postgres.ts";
export { longestValue } from "../counters/drain/sql/shape.ts";
export type { ApplyResult, DrainBatch, DrainRow, Sink, SinkCallOptions } from "../counters/drain/sql/sink.ts";
export { type SqliteDatabase, type SqliteStatement, sqliteSink } from "../counters/drain/sql/sqlite/sqlite.ts";
