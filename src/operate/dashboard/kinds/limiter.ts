import { argumentError, OrielError } from "../../../base/errors.ts";
import type { Duration } from "../../../base/time.ts";
import { Limiter } from "../../../limits/limiter/limiter.ts";
import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingWindow,
} from "../../../limits/limiter/policies.ts";
import { deniedKey } from "../../history/names.ts";
import { denied } from "../../history/steps/denied.ts";
import { limiterHistory, limiterRates } from "../history/outcomes.ts";
import type { DeniedId } from "../parts.ts";
import type { Listed, Scope } from "../scope.ts";
import { finite } from "../series/numbers.ts";
import type { DashboardKind } from "./kind.ts";

const SPARKS = 24;

/** Limiters: the policies come with the settings, the past from `recordHistory`. An operator may reset or block an id. */
export const limiterKind: DashboardKind = {
  kind: "Limiter",
  columns: ["rate", "denied"],
  async numbers(scope, structure, spanMs) {
    return (await limiterRates(scope, structure, spanMs, SPARKS)) ?? {};
  },
  parts: {
    history: limiterHistory,
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

function limiterOf(scope: Scope, structure: Listed): Limiter {
  return scope.opened(
    structure,
    ({ name, settings }) => new Limiter(scope.store, policiesOf(settings.policies), { name }),
  );
}

interface Announced {
  name: string;
  kindName: string;
  limit: number;
  spanMs: number;
  rate: number;
  isAligned: boolean;
  isShadow: boolean;
}

/** The policies that the limiter's processes have announced. They are made anew, because the registry's JSON is foreign. */
function policiesOf(announced: unknown): Policy[] {
  if (!Array.isArray(announced) || announced.length === 0)
    throw new OrielError(
      "ARGUMENT",
      "the policies of this limiter depend on the id, so it can only be reset by a program",
    );
  return (announced as Announced[]).map(({ name, kindName: kind, limit, spanMs: span, rate, isAligned, isShadow }) => {
    const both = { name, shadow: isShadow };
    if (kind === "concurrency") return concurrency({ ...both, limit, lease: span });
    if (kind === "gcra") return gcra({ ...both, limit: rate, burst: limit, span });
    if (kind === "leaky-bucket") return leakyBucket({ ...both, capacity: limit, span });
    if (kind === "fixed-window") return fixedWindow({ ...both, limit, span, aligned: isAligned });
    if (kind === "sliding-window") return slidingWindow({ ...both, limit, span });
    throw new OrielError("ARGUMENT", `this version of the dashboard does not know the policy ${JSON.stringify(kind)}`);
  });
}

const MAX_SHOWN = 100;
/** Ids of which the limiter is asked for the present state. */
const MAX_PEEKED = 20;

/** The ids that were denied most in the last hour, the first ones with each policy's present use. */
async function deniedIds(scope: Scope, structure: Listed, limiter: Limiter | undefined): Promise<DeniedId[]> {
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
