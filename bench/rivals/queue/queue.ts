/** The small JSON that every message carries. */
export interface QueuePayload {
  id: number;
  to: string;
  kind: string;
}

/** Relative to now, or by the wall clock of this machine. */
export type QueueDue = { delayMs: number } | { atMs: number };

export interface QueueMessage {
  payload: QueuePayload;
  due: QueueDue;
}

export interface QueueWorker {
  /** Waits until every handled message is acknowledged. */
  close(): Promise<void>;
}

export interface QueueClient {
  add(message: QueueMessage): Promise<unknown>;
  addBulk(messages: readonly QueueMessage[]): Promise<unknown>;
  /** A worker with its own connections, as in its own process. Rivals that cannot prefetch ignore `prefetch`. */
  work(
    options: { concurrency: number; prefetch: number },
    handle: (payload: QueuePayload) => void,
  ): Promise<QueueWorker>;
  /** Number of messages in any state. */
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
