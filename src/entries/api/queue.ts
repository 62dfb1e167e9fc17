// Delay queues and their workers.

export type { AddResult } from "../../queue/add-coalescer.ts";
export type { Backoff, BackoffOptions } from "../../queue/backoff.ts";
export type { DeadLetters } from "../../queue/dead-letters.ts";
export { DelayQueue } from "../../queue/delay-queue.ts";
export { DoNotRetryError } from "../../queue/do-not-retry.ts";
export { type InboxInsert, type InboxOptions, type InboxTransaction, inboxTable } from "../../queue/inbox.ts";
export type { Job } from "../../queue/job.ts";
export type { QueuedMessage } from "../../queue/message.ts";
export type { AddMessageOptions, ClaimOptions, DelayQueueOptions, NackOptions } from "../../queue/options.ts";
export type { QueueCounts } from "../../queue/steps/counts.ts";
export type { ClaimedMessage } from "../../queue/worker/claimed.ts";
export type { QueueWorker } from "../../queue/worker/worker.ts";
export type { WorkerEvents } from "../../queue/worker/worker-events.ts";
export type { CloseOptions, UnfinishedMessage, WorkerOptions } from "../../queue/worker/worker-options.ts";
export * from "./stores.ts";
