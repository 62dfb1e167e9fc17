import type { Store } from "../../store/contract.ts";
import { processOf } from "../steps/state.ts";
import { type Looked, look } from "../steps/steps.ts";

/** The key of the state of a `Lock`. */
export function lockKeyOf(store: Store, name: string): string {
  return `${store.keyOf(name)}:lock`;
}

/** The key of the state of a `ReadWriteLock`. */
export function readWriteKeyOf(store: Store, name: string): string {
  return `${store.keyOf(name)}:read-write`;
}

/** The state of a lock at one moment. */
export interface LockState {
  isHeld: boolean;
  /** The holder's fence. Null if the lock is free. */
  fence: number | null;
  /** Ms until the lease ends if it is not renewed. 0 if the lock is free. */
  leftMs: number;
  /** The number of processes that wait. */
  waitingProcesses: number;
}

/** The readers that hold a `ReadWriteLock`. */
export interface ReaderState {
  count: number;
  /** Ms until the last of their leases ends. 0: there is none. */
  untilMs: number;
}

/** Reads the state of a lock, and the token of its holder ("": it is free). Throws CORRUPT. */
export async function readState(store: Store, key: string): Promise<{ token: string; state: LockState }> {
  const looked = await store.run(look, key, undefined);
  const [holder] = held(looked);
  return { token: holder?.token ?? "", state: stateOf(looked, holder) };
}

/** Reads the state of a `ReadWriteLock`: that of its writer, and the readers. Throws CORRUPT. */
export async function readWriteState(store: Store, key: string): Promise<LockState & { readers: ReaderState }> {
  const looked = await store.run(look, key, undefined);
  const holds = held(looked);
  const writer = holds.find(({ permits }) => permits > 1);
  const readers = holds.filter(({ permits }) => permits === 1);
  const untilMs = Math.max(0, ...readers.map(({ endMs }) => endMs - looked.nowMs + 1));
  return { ...stateOf(looked, writer), readers: { count: readers.length, untilMs } };
}

function held({ holds, nowMs }: Looked): Looked["holds"] {
  return holds.filter(({ endMs }) => endMs >= nowMs);
}

function stateOf({ places, nowMs }: Looked, holder: Looked["holds"][number] | undefined): LockState {
  return {
    isHeld: holder !== undefined,
    fence: holder?.number ?? null,
    leftMs: holder ? holder.endMs - nowMs : 0,
    waitingProcesses: new Set(places.map(({ token }) => processOf(token))).size,
  };
}
