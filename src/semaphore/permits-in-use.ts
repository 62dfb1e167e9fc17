import { HOLDS_BYTES, HOLDS_COUNT_AT, MAX_LISTED_PERMITS } from "../generated/layouts/semaphore.ts";
import { holdsScript } from "../generated/scripts/semaphore.ts";
import { look } from "../hold/steps/steps.ts";
import { placeOf } from "../place.ts";
import type { Operation, Store } from "../store/contract.ts";
import { holdsOf, numberedKeyOf } from "./steps.ts";

/** The permits that are in use at one moment. */
export interface PermitsInUse {
  /** All of them. */
  count: number;
  /** The holds of the permits that end first, at most 1000 permits. A hold of several has all of these. */
  holds: readonly { permits: number; leftMs: number }[];
}

/** The key of the state of a `Semaphore` or `MultiSemaphore` on one store. */
export function semaphoreKeyOf(store: Store, name: string): string {
  return `${store.keyOf(name)}:semaphore`;
}

/** Reads the permits of a `Semaphore` or `MultiSemaphore` that are in use on this server, for it alone or as one of several. */
export function permitsInUse(store: Store, name: string): Promise<PermitsInUse> {
  const read = async () => {
    const [state, numbered] = await Promise.all([
      store.run(look, semaphoreKeyOf(store, name), undefined),
      store.run(holds, numberedKeyOf(store, name), undefined),
    ]);
    const own = state.holds
      .filter(({ endMs }) => endMs >= state.nowMs)
      .map(({ permits, endMs }) => ({ permits, leftMs: endMs - state.nowMs }));
    const count = own.reduce((sum, { permits }) => sum + permits, numbered.count);
    return { count, holds: first([...own, ...numbered.holds]) };
  };
  return placeOf("Semaphore", store, name).run("permits", read, "no");
}

/** Lists the permits in use. lua/semaphore/holds.lua states the rules. */
export const holds: Operation<void, PermitsInUse> = {
  name: "semaphore/holds",
  script: holdsScript,
  arity: 0,
  keyCount: 1,
  repeatable: true,
  encode: () => [],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
    const lines = new TextDecoder().decode(reply.subarray(HOLDS_BYTES)).split("\n").slice(0, -1);
    const byToken = new Map<string, { permits: number; leftMs: number }>();
    for (const line of lines) {
      const [, leftMs = "0", token = line] = /^(\d+) (.*)_\d+$/.exec(line) ?? [];
      const known = byToken.get(token) ?? { permits: 0, leftMs: Number(leftMs) };
      byToken.set(token, { permits: known.permits + 1, leftMs: known.leftMs });
    }
    return { count: view.getUint32(HOLDS_COUNT_AT, true), holds: [...byToken.values()] };
  },
  local(keys, key, _input, nowMs) {
    const live = [...holdsOf(keys, key).values()].filter(({ endMs }) => endMs >= nowMs);
    const permits = live.map(({ numbers, endMs }) => ({ permits: numbers.length, leftMs: endMs - nowMs }));
    const count = permits.reduce((sum, each) => sum + each.permits, 0);
    return { count, holds: first(permits) };
  },
};

/** Those that end first. */
function first(all: PermitsInUse["holds"]): PermitsInUse["holds"] {
  let listed = 0;
  return [...all]
    .sort((a, b) => a.leftMs - b.leftMs)
    .map(({ permits, leftMs }) => {
      const shown = Math.min(permits, MAX_LISTED_PERMITS - listed);
      listed += shown;
      return { permits: shown, leftMs };
    })
    .filter(({ permits }) => permits > 0);
}
