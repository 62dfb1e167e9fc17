/** The small JSON that every message carries. */
export interface QueuePayload {
  id: number;
  to: string;
  kind: string;
}

/** From now, or by the wall clock of the machine that all run on. */
export type QueueDue = { delayMs: number } | { atMs: number };

export interface QueueMessage {
  payload: QueuePayload;
  due: QueueDue;
}

export interface QueueWorker {
  /** Waits until what was handled is acknowledged. */
  close(): Promise<void>;
}

export interface QueueClient {
  add(message: QueueMessage): Promise<unknown>;
  addBulk(messages: readonly QueueMessage[]): Promise<unknown>;
  /** A worker with connections of its own, as a process has it. `prefetch` is for those that can. */
  work(
    options: { concurrency: number; prefetch: number },
    handle: (payload: QueuePayload) => void,
  ): Promise<QueueWorker>;
  /** Messages that are there, in whatever state. */
  left(): Promise<number>;
  close(): Promise<void>;
}

/** A queue of delayed messages that many processes share through Redis. */
export interface QueueRival {
  readonly name: "BullMQ" | "oriel";
  /** Why it cannot run on this machine, or undefined when it can. */
  missing(): string | undefined;
  open(redisUrl: string, name: string): Promise<QueueClient>;
}
