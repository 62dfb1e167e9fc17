import { argumentError, OrielError } from "../../base/errors.ts";
import { Lock } from "../../holds/lock/lock.ts";
import { type LockState, lockKeyOf, readState, readWriteKeyOf, readWriteState } from "../../holds/lock/lock-state.ts";
import type { LockPart } from "../dashboard/parts.ts";
import type { Kind } from "./kind.ts";
import type { Open, Scope } from "./scope.ts";

export const openLock: Open<Lock> = (store, { name }) => new Lock(store, name);

/** Locks: the holder and the queue. An operator may release one. */
export const lockKind: Kind = {
  open: openLock,
  columns: [],
  async numbers(scope, { name }) {
    const { isHeld, waitingProcesses } = await lockState(scope, name);
    if (!isHeld) return { state: "" };
    return { state: waitingProcesses === 0 ? "held" : `held, ${waitingProcesses} waiting` };
  },
  parts: { state: async (scope, { name }) => ({ body: await lockState(scope, name) }) },
  actions: {
    async release(scope, structure, query) {
      const target = query.get("target") ?? "";
      if (!/^[1-9]\d{0,15}$/.test(target)) throw argumentError("target", target, "the fence of the hold");
      const fence = Number(target);
      if (!(await openLock(scope.store, structure).forceRelease({ fence })))
        throw new OrielError("ARGUMENT", "the lock was not released: it is free, or another hold has it");
      return { target: `the hold with fence ${fence}` };
    },
  },
};

/** Read-write locks: the writer, the readers and the queue. */
export const readWriteLockKind: Kind = {
  columns: [],
  parts: {
    async state(scope, { name }) {
      const { readers, ...state } = await readWriteState(scope.store, readWriteKeyOf(scope.store, name));
      return { body: { ...(await partOf(scope, state)), readers } satisfies LockPart };
    },
  },
  actions: {},
};

export async function lockState(scope: Scope, name: string): Promise<LockPart> {
  return partOf(scope, (await readState(scope.store, lockKeyOf(scope.store, name))).state);
}

async function partOf(scope: Scope, { isHeld, fence, leftMs, waitingProcesses }: LockState): Promise<LockPart> {
  // A fence is the server's time in us when the hold began, unless the fence before was higher.
  const heldMs = fence === null ? null : Math.max(0, Math.floor((await scope.nowMs()) - fence / 1000));
  return { isHeld, fence, heldMs, leftMs, waitingProcesses };
}
