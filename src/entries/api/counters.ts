// Counters, and the service that drains them to tables.

export type { AddOptions, CountedEvent } from "../../counter/add-options.ts";
export type { BucketName } from "../../counter/buckets.ts";
export type { CounterValues } from "../../counter/cells/cells.ts";
export { Counters } from "../../counter/counters.ts";
export type { CounterMirror, CountersOptions } from "../../counter/options.ts";
export type { CountersQuery } from "../../counter/read.ts";
export type { CounterRow } from "../../counter/row.ts";
export type { CounterShape, CountRow, CountTable, LedgerRow, RowsQuery } from "../../counter/table.ts";
export type { ShardDiagnosis, ShardVerdict } from "../../drain/diagnosis.ts";
export { CountersDoctor, type DiagnoseOptions, type RepairOptions, type ShardRepair } from "../../drain/doctor.ts";
export { DrainService } from "../../drain/drain-service.ts";
export type { CycleReport, DivergedShards, DrainEvents, DrainFailure } from "../../drain/events.ts";
export type { DrainOptions } from "../../drain/options.ts";
export type { LayoutDiagnosis } from "../../drain/shape-key.ts";
export type { DivergedState } from "../../drain/shard-drain.ts";
export type { ApplyResult, DrainBatch, DrainRow, Sink, SinkCallOptions } from "../../drain/sql/sink.ts";
export type { AnyHeldLock, AnyLock, LibraryMutex } from "../../lock/any-lock.ts";
export * from "./lock.ts";
export * from "./stores.ts";
