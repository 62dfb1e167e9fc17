// The dashboard.

export type { BucketName } from "../../base/calendar.ts";
export type { CounterRow, CounterShape, LedgerRow, RowsQuery } from "../../counters/counter/table.ts";
export type { ApplyResult, DrainBatch, DrainRow, Sink, SinkCallOptions } from "../../counters/drain/sql/sink.ts";
export type { FastifyInstance, FastifyReply, FastifyRequest } from "../../operate/dashboard/adapters/fastify.ts";
export type { HonoLike } from "../../operate/dashboard/adapters/hono.ts";
export type { NodeHandler, NodeRequest, NodeResponse } from "../../operate/dashboard/adapters/node.ts";
export { type Dashboard, dashboard } from "../../operate/dashboard/dashboard.ts";
export type { Authorized, DashboardOptions, LedgerSink } from "../../operate/dashboard/options.ts";
export * from "./stores.ts";
