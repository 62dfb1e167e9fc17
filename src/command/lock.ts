import { argumentError, needlessArgument } from "../base/errors.ts";
import type { LockState } from "../entries/index.ts";
import { age } from "../operate/format.ts";
import { openLock } from "../operate/kinds/locks.ts";
import { openStore } from "./config/open-store.ts";
import type { ServerTyped } from "./config/redis-client.ts";
import { Output, type Streams } from "./output.ts";
import { jsonLine } from "./text/safe-text.ts";

export interface LockTyped extends ServerTyped {
  fence?: string;
  json?: boolean;
}

/** Prints the state of a lock, or releases it. Resolves to 0, or to 1 if nothing was released. */
export async function lock(what: string, name: string, typed: LockTyped, streams: Streams): Promise<number> {
  const fence = fenceOf(what, typed.fence);
  const store = openStore(typed);
  const output = new Output(streams.stdout);
  try {
    const own = openLock(store, { name, settings: {} });
    if (what === "show") {
      const state = await own.inspect();
      await output.write(typed.json ? jsonLine({ name, ...state }) : `${stateText(state)}\n`);
      return 0;
    }
    const isReleased = await own.forceRelease({ fence });
    const text = isReleased ? "released" : "not released: the lock is free, or another hold has it";
    await output.write(typed.json ? jsonLine({ name, isReleased }) : `${text}\n`);
    return isReleased ? 0 : 1;
  } finally {
    await store.close();
  }
}

function fenceOf(what: string, fence: string | undefined): number | undefined {
  if (fence === undefined) return undefined;
  if (what !== "release") throw needlessArgument("--fence", fence, "only release takes it");
  if (!/^[1-9]\d{0,15}$/.test(fence)) throw argumentError("--fence", fence, "a whole number, as show prints it");
  return Number(fence);
}

function stateText({ isHeld, fence, leftMs, waitingProcesses }: LockState): string {
  const waiting = `${waitingProcesses} ${waitingProcesses === 1 ? "process" : "processes"} waiting`;
  if (!isHeld) return `free · ${waiting}`;
  return `held · fence ${fence} · lease ends in ${age(leftMs)} · ${waiting}`;
}
