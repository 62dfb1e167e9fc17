// Delay queues and their workers.

export type { Backoff, BackoffOptions } from "../../queue/backoff.ts";
export type { DeadLetters } from "../../queue/dead-letters.ts";
export type { AddResult } from "../../queue/delay-queue.ts";
export { DelayQueue } from "../../queue/delay-queue.ts";
export { type InboxInsert, type InboxOptions, type InboxTransaction, inboxTable } from "../../queue/inbox.ts";
export type { ClaimedMessage, Job } from "../../queue/job.ts";
export { DoNotRetryError } from "../../queue/job.ts";
export type { QueuedMessage } from "../../queue/message.ts";
export type { AddMessageOptions, ClaimOptions, DelayQueueOptions, NackOptions } from "../../queue/options.ts";
export type { QueueCounts } from "../../queue/steps/shards.ts";
export type { QueueWorker } from "../../queue/worker/worker.ts";
export type { WorkerEvents } from "../../queue/worker/worker-emitter.ts";
export type { CloseOptions, UnfinishedMessage, WorkerOptions } from "../../queue/worker/worker-options.ts";
export * from "./stores.ts";
