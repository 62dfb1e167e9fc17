import { MODE, STATUS } from "../../../generated/layouts/limiter.ts";
import type { PackedStep, Store } from "../../../store/contract.ts";
import { policySuffixes, REQUESTS_SUFFIX, RESERVATIONS_SUFFIX, requestSuffix } from "../keys.ts";
import type { Policy } from "../policies.ts";
import { decideFor } from "../steps/decide.ts";
import type { DecideReply, DecideRequest } from "../steps/request.ts";
import type { Rule } from "../steps/rule.ts";

export interface LimiterRequest {
  keyPrefix: string;
  policies: readonly Policy[];
  cost: number;
  mode: number;
  /** Number of equal calls; default 1. */
  calls?: number;
  isPartial?: boolean;
  amount?: number;
  token?: string;
  requestId?: string | undefined;
  /** Whether to read reservations. They are read anyway if the id has any. */
  hasReservations?: boolean;
  /** Settles a reservation on a full server. */
  isFull?: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Modes that may be sent again after a lost reply without counting twice. Blocks and resets are not among them: a late copy of one
 * would undo a later one of the other.
 */
const REPEATABLE: readonly number[] = [MODE.peek, MODE.reserve, MODE.settle, MODE.release];
const NO_TOKEN = "";

type PreparedStep = [operation: PackedStep<DecideRequest, DecideReply>, ask: DecideRequest];

/** Sends requests to the store. Once an id had reservations, it reads them with each request. */
export class DecisionClient {
  readonly #store: Store;
  #seesReservations = false;
  /** The last plain take. The next one usually differs only in its id, so it reuses the prepared step. */
  #last: { policies: readonly Policy[]; cost: number; calls: number; step: PreparedStep } | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  async ask(request: LimiterRequest): Promise<DecideReply> {
    const reply = await this.#send(request, this.#seesReservations);
    if (reply.status !== STATUS.reservationsNeeded) return reply;
    this.#seesReservations = true;
    return this.#send(request, true);
  }

  /** Sends equal calls on an id without concurrency policies. If the status is `reservationsNeeded`, use `ask`. */
  take(keyPrefix: string, policies: readonly Policy[], cost: number, calls: number): Promise<DecideReply> {
    if (this.#seesReservations) return this.ask({ keyPrefix, policies, cost, mode: MODE.take, calls });
    if (this.#last?.policies !== policies || this.#last.cost !== cost || this.#last.calls !== calls) {
      const step = prepare({ keyPrefix, policies, cost, mode: MODE.take, calls }, false);
      this.#last = { policies, cost, calls, step };
    }
    const [operation, ask] = this.#last.step;
    return this.#store.run(operation, keyPrefix, ask);
  }

  #send(request: LimiterRequest, hasReservations: boolean): Promise<DecideReply> {
    const { keyPrefix, signal } = request;
    const [operation, ask] = prepare(request, hasReservations || request.hasReservations === true);
    return this.#store.run(operation, keyPrefix, ask, signal && { signal });
  }
}

function prepare({ policies, cost, mode, requestId, ...rest }: LimiterRequest, hasReservations: boolean): PreparedStep {
  const keySuffixes = policySuffixes(policies);
  if (hasReservations) keySuffixes.push(RESERVATIONS_SUFFIX);
  if (requestId !== undefined || mode === MODE.reset) keySuffixes.push(REQUESTS_SUFFIX);
  if (requestId !== undefined) keySuffixes.push(requestSuffix(requestId));
  const isRepeatable = requestId !== undefined || REPEATABLE.includes(mode);
  const ask = {
    mode,
    calls: rest.calls ?? 1,
    isPartial: rest.isPartial ?? false,
    amount: rest.amount ?? 0,
    token: rest.token ?? NO_TOKEN,
    rules: policies.map((policy) => ruleOf(policy, cost)),
    isHead: policies.map((_, i) => i === 0),
    keySuffixes,
    hasReservations,
    hasRequest: requestId !== undefined,
  };
  const grows = needsMemory(mode, cost, ask.amount) && !rest.isFull;
  return [decideFor(policies.length, keySuffixes.length, isRepeatable, grows), ask];
}

/** Whether a step may make what is stored longer. */
function needsMemory(mode: number, cost: number, amount: number): boolean {
  if (mode === MODE.settle) return cost > 0;
  if (mode === MODE.block) return amount > 0;
  return mode === MODE.take || mode === MODE.add || mode === MODE.reserve;
}

export function ruleOf({ kind, limit, spanMs, rate, isAligned, isShadow }: Policy, cost: number): Rule {
  return { kind, isShadow, isAligned, cost, limit, spanMs, rate };
}
