import { corruptError } from "../errors.ts";
import { HEAD_LENGTH, ID_LENGTH, PLACE_LENGTH } from "../generated/layouts/lock.ts";
import type { Store } from "../store/contract.ts";
import { inspect } from "./steps/inspect.ts";
import { fenceKeyOf, OUR_TOKENS, queueKeyOf } from "./steps/keys.ts";
import { msIn } from "./steps/queue.ts";

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

/** Reads the token of a lock's holder ("": it is free), and its state. Throws CORRUPT. */
export async function readState(store: Store, key: string): Promise<{ token: string; state: LockState }> {
  const { token, fence, queue, leftMs, nowMs } = await store.run(inspect, key, undefined);
  const isOurs = token.startsWith(OUR_TOKENS);
  const number = Number(fence);
  if (!Number.isSafeInteger(number) || number < 0)
    throw corruptError(fenceKeyOf(key), "the last fence is not an integer");
  return {
    token,
    state: {
      isHeld: token !== "",
      fence: isOurs && number > 0 ? number : null,
      leftMs: leftMs < 0 ? Number.POSITIVE_INFINITY : leftMs,
      waitingProcesses: waitingIn(queueKeyOf(key), queue, nowMs),
    },
  };
}

/** The number of places in the text of a queue that have not ended. */
function waitingIn(key: string, text: string, nowMs: number): number {
  let waiting = 0;
  for (let at = HEAD_LENGTH; at < text.length; at += PLACE_LENGTH)
    if (msIn(key, text, at + ID_LENGTH) >= nowMs) waiting++;
  return waiting;
}
