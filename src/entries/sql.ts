/**
 * Entry `oriel/sql`: sinks for the counts of counters: PostgreSQL, MariaDB, MySQL, SQLite, Oracle. It imports no driver
 * and no kernel.
 *
 * @module oriel/sql
 */

export type { BucketName } from "../counter/buckets.ts";
export type { CounterRow } from "../counter/row.ts";
export type { CounterShape, CountRow, LedgerRow, RowsQuery } from "../counter/table.ts";
export type { SinkOptions } from "../drain/sql/layout.ts";
export { mysqlSink } from "../drain/sql/mysql/mysql.ts";
export type { MysqlConnection, MysqlPool } from "../drain/sql/mysql/mysql-session.ts";
export { type OracleSinkOptions, oracleSink } from "../drain/sql/oracle/oracle.ts";
export type { OracleConnection, OracleManyResult, OraclePool } from "../drain/sql/oracle/oracle-session.ts";
export { type PostgresConnection, type PostgresPool, postgresSink } from "../drain/sql/postgres/postgres.ts";
export { longestValue } from "../drain/sql/shape.ts";
export type { ApplyResult, DrainBatch, DrainRow, Sink, SinkCallOptions } from "../drain/sql/sink.ts";
export { type SqliteDatabase, type SqliteStatement, sqliteSink } from "../drain/sql/sqlite/sqlite.ts";
export { type ErrorPlace, OrielError, type OrielErrorCode, type OrielErrorOptions } from "../errors.ts";
