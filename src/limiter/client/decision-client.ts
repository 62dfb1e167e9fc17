import type { PackedStep, Store } from "../../store/contract.ts";
import { policySuffixes, REQUESTS_SUFFIX, RESERVATIONS_SUFFIX, requestSuffix } from "../keys.ts";
import type { Policy } from "../policies.ts";
import { decideFor } from "../steps/decide.ts";
import { type DecideReply, type DecideRequest, MODE, STATUS } from "../steps/request.ts";
import type { Rule } from "../steps/rule.ts";

export interface LimiterRequest {
  keyPrefix: string;
  policies: readonly Policy[];
  cost: number;
  mode: number;
  /** Alike calls; default 1. */
  calls?: number;
  isPartial?: boolean;
  amount?: number;
  token?: string;
  requestId?: string | undefined;
  /** Reservations are asked for; where they turn out to count, they are anyway. */
  hasReservations?: boolean;
  /** What is reserved is settled on a server that is full. */
  isFull?: boolean;
  signal?: AbortSignal | undefined;
}

/** What may be sent again after a lost reply without counting twice. */
const REPEATABLE: readonly number[] = [MODE.peek, MODE.block, MODE.reset, MODE.reserve, MODE.settle, MODE.release];
const NO_TOKEN = "";

type PreparedStep = [operation: PackedStep<DecideRequest, DecideReply>, ask: DecideRequest];

/** Asks the store; knows of which limiters permits were reserved, so that their holds are looked at. */
export class DecisionClient {
  readonly #store: Store;
  #seesReservations = false;
  /** The last plain take: the next is as a rule one of another id, which is asked with the same object. */
  #last: { policies: readonly Policy[]; cost: number; calls: number; asked: PreparedStep } | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  async ask(question: LimiterRequest): Promise<DecideReply> {
    const reply = await this.#send(question, this.#seesReservations);
    if (reply.status !== STATUS.reservationsNeeded) return reply;
    this.#seesReservations = true;
    return this.#send(question, true);
  }

  /** Asks for so many alike calls on an id, which lend nothing; may answer `reservationsNeeded`: then `ask`. */
  take(keyPrefix: string, policies: readonly Policy[], cost: number, calls: number): Promise<DecideReply> {
    if (this.#seesReservations) return this.ask({ keyPrefix, policies, cost, mode: MODE.take, calls });
    if (this.#last?.policies !== policies || this.#last.cost !== cost || this.#last.calls !== calls) {
      const asked = prepare({ keyPrefix, policies, cost, mode: MODE.take, calls }, false);
      this.#last = { policies, cost, calls, asked };
    }
    const [operation, ask] = this.#last.asked;
    return this.#store.run(operation, keyPrefix, ask);
  }

  #send(question: LimiterRequest, hasReservations: boolean): Promise<DecideReply> {
    const { keyPrefix, signal } = question;
    const [operation, ask] = prepare(question, hasReservations || question.hasReservations === true);
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

export function ruleOf({ kind, State, limit, spanMs, rate, isAligned, isShadow }: Policy, cost: number): Rule {
  return { kind, State, isShadow, isAligned, cost, limit, spanMs, rate };
}
