import type { Inspected } from "./steps/inspect.ts";
import { OUR_TOKENS } from "./steps/keys.ts";

/** The state of a lock at one moment. */
export interface LockState {
  isHeld: boolean;
  /** The holder's fence. Null if the lock is free, or held by another library, such as redis-semaphore's Mutex. */
  fence: number | null;
  /** Ms until the lease ends if it is not renewed. 0 if the lock is free; Infinity if the hold never expires. */
  leftMs: number;
  /** The number of other processes in the lock's queue. Callers of one process share a place. */
  waitingProcesses: number;
}

export function stateOf({ token, fence, leftMs, waiting }: Inspected): LockState {
  return {
    isHeld: token !== "",
    fence: token.startsWith(OUR_TOKENS) && fence > 0 ? fence : null,
    leftMs: leftMs < 0 ? Number.POSITIVE_INFINITY : leftMs,
    waitingProcesses: waiting,
  };
}
