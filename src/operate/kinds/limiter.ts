import { argumentError } from "../../base/errors.ts";
import type { Duration } from "../../base/time.ts";
import { Limiter } from "../../limits/limiter/limiter.ts";
import { outcomeHistory, outcomeSums } from "../dashboard/history/outcomes.ts";
import type { DeniedId } from "../dashboard/parts.ts";
import { finite } from "../dashboard/series/view.ts";
import { deniedKey } from "../history/names.ts";
import { denied } from "../history/steps/denied.ts";
import type { Kind } from "./kind.ts";
import { announcedPolicies } from "./policies.ts";
import type { Identified, Open, Scope } from "./scope.ts";

const openLimiter: Open<Limiter> = (store, { name, settings }) =>
  new Limiter(store, announcedPolicies(settings.policies), { name });

/** A limiter that denies this share of its calls needs a look. */
const MUCH_DENIED = 0.5;

/** Limiters: the policies come with the settings, the past from the history. An operator may reset or block an id. */
export const limiterKind: Kind = {
  open: openLimiter,
  columns: ["spark", "rate", "denied"],
  async numbers(scope, structure, span) {
    const sums = await outcomeSums(scope, "Limiter", structure, span);
    if (!sums) return {};
    const [allowed, denied] = [sums.of("allowed"), sums.of("denied")];
    const seconds = span.spanMs / 1000;
    const share = denied / Math.max(1, allowed + denied);
    const bad = share >= MUCH_DENIED && {
      ...{ state: `${Math.round(share * 100)} % denied`, isBad: true },
      advice: "look at the ids that are denied most",
    };
    return { rate: (allowed + denied) / seconds, denied: denied / seconds, spark: sums.spark, ...bad };
  },
  parts: {
    history: (scope, structure, query) => outcomeHistory(scope, "Limiter", structure, query),
    async denied(scope, structure, query) {
      const isAnnounced = Array.isArray(structure.settings.policies) && query.get("peek") !== "0";
      return { body: await deniedIds(scope, structure, isAnnounced ? limiterOf(scope, structure) : undefined) };
    },
  },
  idActions: { block: "typed", reset: "typed" },
  actions: {
    async block(scope, structure, query) {
      const target = query.get("target") ?? "";
      if (target === "") throw argumentError("target", target, "the id that is blocked");
      const duration = query.get("duration") ?? "1h";
      await limiterOf(scope, structure).block(target, duration as Duration);
      return { target: `${target} for ${duration}` };
    },
    async reset(scope, structure, query) {
      const target = query.get("target") ?? "";
      if (target === "") throw argumentError("target", target, "the id whose counts are reset");
      const tag = query.get("tag") ?? undefined;
      await limiterOf(scope, structure).reset(target, { tag });
      return { target: tag === undefined ? target : `${target} under the tag ${tag}` };
    },
  },
};

function limiterOf(scope: Scope, structure: Identified): Limiter {
  return scope.opened(structure, openLimiter);
}

const MAX_SHOWN = 100;
/** Ids of which the limiter is asked for the present state. */
const MAX_PEEKED = 20;

/** The ids that were denied most in the last hour, the first ones with each policy's present use. */
async function deniedIds(scope: Scope, structure: Identified, limiter: Limiter | undefined): Promise<DeniedId[]> {
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
