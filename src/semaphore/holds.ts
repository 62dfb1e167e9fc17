import { HOLDS_BYTES, HOLDS_COUNT_AT, MAX_LISTED_PERMITS } from "../generated/layouts/semaphore.ts";
import { holdsScript } from "../generated/scripts/semaphore.ts";
import { placeOf } from "../place.ts";
import type { Operation, Store } from "../store/contract.ts";
import { holdsOf, semaphoreKeyOf } from "./steps.ts";

/** The permits that are in use at one moment. */
export interface PermitsInUse {
  /** All of them. */
  count: number;
  /** The holds of the permits that end first, at most 1000 permits. A hold of several has all of these. */
  holds: readonly { permits: number; leftMs: number }[];
}

/** Reads the permits of a `Semaphore` or `MultiSemaphore` that are in use on this server. */
export function permitsInUse(store: Store, name: string): Promise<PermitsInUse> {
  const read = () => store.run(holds, semaphoreKeyOf(store, name), undefined);
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
    let listed = 0;
    const first = permits
      .sort((a, b) => a.leftMs - b.leftMs)
      .map((each) => {
        const shown = Math.min(each.permits, MAX_LISTED_PERMITS - listed);
        listed += shown;
        return { ...each, permits: shown };
      });
    return { count, holds: first.filter((each) => each.permits > 0) };
  },
};
