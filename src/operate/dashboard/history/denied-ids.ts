import type { Limiter } from "../../../limits/limiter/limiter.ts";
import { deniedKey } from "../../history/names.ts";
import { denied } from "../../history/steps/denied.ts";
import type { DeniedId } from "../parts.ts";
import type { Listed, Scope } from "../scope.ts";
import { finite } from "../series/numbers.ts";

const MAX_SHOWN = 100;
/** Ids of which the limiter is asked for the present state. */
const MAX_PEEKED = 20;

/** The ids that were denied most in the last hour, the first ones with each policy's present use. */
export async function deniedIds(scope: Scope, structure: Listed, limiter: Limiter | undefined): Promise<DeniedId[]> {
  const { store, ids } = scope;
  const found = await store.run(denied, deniedKey(store, structure.name), { added: new Map(), isWanted: true });
  const top = [...found].slice(0, MAX_SHOWN);
  return Promise.all(
    top.map(async ([id, count], i): Promise<DeniedId> => {
      const names = { key: await ids.keyOf(id), id: ids.shown(id) };
      // An id that was cut is another one for the limiter.
      const now = limiter && i < MAX_PEEKED && !id.endsWith("…") ? await limiter.peek(id) : undefined;
      if (!now) return { ...names, count, now: null };
      // `remaining` is what a call would leave, and a call that is allowed takes one permit.
      const usedOf = (limit: number, remaining: number) => Math.max(0, limit - remaining - (now.allowed ? 1 : 0));
      const policies = now.policies.map(({ name, allowed, shadow, limit, remaining }) => ({
        ...{ name, isShadow: shadow, isDenied: !allowed, used: usedOf(limit, remaining), limit },
      }));
      return { ...names, count, now: { isDenied: !now.allowed, waitMs: finite(now.retryAfterMs), policies } };
    }),
  );
}
