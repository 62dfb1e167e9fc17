// Sinks that counters are drained to: PostgreSQL, MariaDB, MySQL, SQLite, Oracle. It names no driver and needs no kernel.

export type { BucketName } from "./counter/buckets.ts";
export type { CounterRow } from "./counter/row.ts";
export type { CounterShape, LedgerRow, RowsQuery } from "./counter/table.ts";
export type { SinkOptions } from "./drain/layout.ts";
export { mysqlSink } from "./drain/mysql.ts";
export type { MysqlConnection, MysqlPool } from "./drain/mysql-session.ts";
export { type OracleSinkOptions, oracleSink } from "./drain/oracle.ts";
export type { OracleConnection, OracleManyResult, OraclePool } from "./drain/oracle-session.ts";
export { type PostgresConnection, type PostgresPool, postgresSink } from "./drain/postgres.ts";
export { longestValue } from "./drain/shape.ts";
export type { Applied, DrainBatch, DrainRow, Limits, Sink } from "./drain/sink.ts";
export { type SqliteDatabase, type SqliteStatement, sqliteSink } from "./drain/sqlite.ts";
export { OrielError, type OrielErrorCode } from "./errors.ts";
