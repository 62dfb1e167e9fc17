import type { DelayQueueOptions } from "../../../src/queue/options.ts";
import type { WorkerOptions } from "../../../src/queue/worker/worker-options.ts";

/** The order of an actor, sent to its process as JSON. */
export interface Orders {
  /** Of the actor; nobody else has it. */
  name: string;
  url: string;
  queue: string;
  seed: number;
  options: DelayQueueOptions;
  /** The number of messages of a producer. Undefined for a worker. */
  messages?: number;
  worker?: WorkerOptions & { visibility: number };
  /** Its handlers are fast, and do not throw. */
  isCalm?: boolean;
}

/** An actor's observation of a delivery, or of an added message. */
export type Note =
  | { what: "accepted"; id: string }
  /** The store said that this delivery has it, at least until then. */
  | { what: "holds"; id: string; attempt: number; untilMs: number }
  | { what: "began"; id: string; attempt: number }
  /** The handler is about to return, or to throw. */
  | { what: "handled"; id: string; attempt: number; isGood: boolean }
  /** The store kept what became of this delivery. */
  | { what: "settled"; id: string; attempt: number; verb: string }
  /** The worker reported the end of a delivery. */
  | { what: "reported"; id: string; attempt: number; status: string }
  | { what: "wrong"; why: string };

/** By the clock that all processes of a machine share. */
export type Reported = Note & { by: string; atMs: number };

export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
