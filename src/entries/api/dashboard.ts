// The dashboard.

export type { BucketName } from "../../counter/buckets.ts";
export type { CounterRow } from "../../counter/row.ts";
export type { CounterShape, LedgerRow, RowsQuery } from "../../counter/table.ts";
export type { FastifyInstance, FastifyReply, FastifyRequest } from "../../dashboard/adapters/fastify.ts";
export type { HonoLike } from "../../dashboard/adapters/hono.ts";
export type { NodeHandler, NodeRequest, NodeResponse } from "../../dashboard/adapters/node.ts";
export { type Dashboard, dashboard } from "../../dashboard/dashboard.ts";
export type { Authorized, DashboardOptions, LedgerSink } from "../../dashboard/options.ts";
export type { ApplyResult, DrainBatch, DrainRow, Sink, SinkCallOptions } from "../../drain/sql/sink.ts";
export * from "./stores.ts";
