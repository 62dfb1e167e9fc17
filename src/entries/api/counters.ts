// Counters, and the service that drains them to tables.

export type { BucketName } from "../../base/calendar.ts";
export type { CounterValues } from "../../counters/counter/cells/cells.ts";
export { Counters } from "../../counters/counter/counters.ts";
export type { AddOptions, CountedEvent, CounterMirror, CountersOptions } from "../../counters/counter/options.ts";
export type { CountersQuery } from "../../counters/counter/read.ts";
export type {
  CounterRow,
  CounterShape,
  CountRow,
  CountTable,
  LedgerRow,
  RowsQuery,
} from "../../counters/counter/table.ts";
export type { ShardDiagnosis, ShardVerdict } from "../../counters/drain/diagnosis.ts";
export type { LayoutDiagnosis } from "../../counters/drain/doctor.ts";
export {
  CountersDoctor,
  type DiagnoseOptions,
  type RepairOptions,
  type ShardRepair,
} from "../../counters/drain/doctor.ts";
export { DrainService } from "../../counters/drain/drain-service.ts";
export type { CycleReport, DivergedShards, DrainEvents, DrainFailure } from "../../counters/drain/events.ts";
export type { DrainOptions } from "../../counters/drain/options.ts";
export type { DivergedState } from "../../counters/drain/shard-drain.ts";
export type { ApplyResult, DrainBatch, DrainRow, Sink, SinkCallOptions } from "../../counters/drain/sql/sink.ts";
export type { AnyHeldLock, AnyLock, LibraryMutex } from "../../holds/lock/any-lock.ts";
export * from "./lock.ts";
export * from "./stores.ts";
