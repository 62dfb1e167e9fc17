import type { OrielError } from "../../../src/base/errors.ts";
import { keyPrefixOf, turnKeyOf } from "../../../src/limits/limiter/steps/decide.ts";
import type { Random } from "../world/random.ts";
import { Call } from "./actors.ts";
import type { Actor, Stage } from "./stage.ts";
import { inProcess } from "./timers.ts";

const ID = "x";
/** A caller looks, peeks, queues, confirms its turn, asks, releases the turn twice, and deletes the queue. */
const REQUESTS = 8;

/** One call of `acquire`, with what its caller does with the permit. `soon`: it gives it back at once. */
export async function acquireOnce(
  stage: Stage,
  actor: Actor,
  isRated: boolean,
  random: Random,
  soon?: { readonly wait: number },
): Promise<boolean> {
  const { world, plan, books } = stage;
  const { process, structures, store } = actor;
  const wait = soon?.wait ?? random.pick([0, 50, 400, 3000, 20_000]);
  const limiter = isRated ? structures.rated : structures.lender;
  const cost = random.chance(0.6) ? 1 : random.int(1, plan.limit);
  const key = keyPrefixOf(store, limiter.name, ID, undefined);
  const part = { key: turnKeyOf(key), permits: cost, limit: 1 };
  const call = new Call(stage, actor, { what: `${cost} permits of ${limiter.name}`, parts: [part] }, wait, REQUESTS);
  const abort = !soon && random.chance(0.1) ? new AbortController() : undefined;
  if (abort)
    world.after(random.int(0, 600), () => inProcess(process, () => abort.abort(new RangeError("enough"))), process);
  try {
    const decision = await limiter.acquire(ID, { cost, wait, signal: abort?.signal });
    const { allowed, granted, permit, retryAfterMs } = decision;
    call.decided(allowed);
    if (granted !== (allowed ? cost : 0) || retryAfterMs > 0 === allowed || decision.degraded)
      call.violation(`it is decided ${JSON.stringify(decision)}`);
    if (!allowed) return false;
    books.limits.enter(actor, key, permit, cost, call.startedMs);
    await world.sleep(soon ? 5 : random.pick([0, 5, random.int(0, plan.longestWorkMs)]), process);
    books.limits.leave(permit!);
    if (soon || random.chance(0.9)) await limiter.release(ID, permit!);
    return true;
  } catch (error) {
    call.rejected(error as OrielError, false);
    return false;
  } finally {
    call.ended();
  }
}
