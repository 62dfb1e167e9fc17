import type { PackedStep, Store } from "../../store/contract.ts";
import { HOLDS_ENDING, policyEndings, REQUESTS_ENDING, requestEnding } from "../keys.ts";
import type { Policy } from "../policies.ts";
import { type Ask, MODE, type Reply, STATUS } from "../steps/ask.ts";
import { decideFor } from "../steps/decide.ts";
import type { Rule } from "../steps/rule.ts";

export interface Question {
  base: string;
  policies: readonly Policy[];
  cost: number;
  mode: number;
  /** Alike calls; default 1. */
  calls?: number;
  isPartial?: boolean;
  amount?: number;
  token?: string;
  requestId?: string | undefined;
  /** Holds are asked for; where they turn out to count, they are anyway. */
  hasHolds?: boolean;
  /** What is reserved is settled on a server that is full. */
  isFull?: boolean;
  signal?: AbortSignal | undefined;
}

/** What may be sent again after a lost reply without counting twice. */
const REPEATABLE: readonly number[] = [MODE.peek, MODE.block, MODE.reset, MODE.reserve, MODE.settle, MODE.release];
const NO_TOKEN = "";

type Asked = [operation: PackedStep<Ask, Reply>, ask: Ask];

/** Asks the store; knows of which limiters permits were reserved, so that their holds are looked at. */
export class Asker {
  readonly #store: Store;
  #seesHolds = false;
  /** The last plain take: the next is as a rule one of another id, which is asked with the same object. */
  #last: { policies: readonly Policy[]; cost: number; calls: number; asked: Asked } | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  async ask(question: Question): Promise<Reply> {
    const reply = await this.#send(question, this.#seesHolds);
    if (reply.status !== STATUS.holdsNeeded) return reply;
    this.#seesHolds = true;
    return this.#send(question, true);
  }

  /** Asks for so many alike calls on an id, which lend nothing; may answer `holdsNeeded`: then `ask`. */
  take(base: string, policies: readonly Policy[], cost: number, calls: number): Promise<Reply> {
    if (this.#seesHolds) return this.ask({ base, policies, cost, mode: MODE.take, calls });
    if (this.#last?.policies !== policies || this.#last.cost !== cost || this.#last.calls !== calls) {
      const asked = askedOf({ base, policies, cost, mode: MODE.take, calls }, false);
      this.#last = { policies, cost, calls, asked };
    }
    const [operation, ask] = this.#last.asked;
    return this.#store.run(operation, base, ask);
  }

  #send(question: Question, hasHolds: boolean): Promise<Reply> {
    const { base, signal } = question;
    const [operation, ask] = askedOf(question, hasHolds || question.hasHolds === true);
    return this.#store.run(operation, base, ask, signal && { signal });
  }
}

function askedOf({ policies, cost, mode, requestId, ...rest }: Question, hasHolds: boolean): Asked {
  const endings = policyEndings(policies);
  if (hasHolds) endings.push(HOLDS_ENDING);
  if (requestId !== undefined || mode === MODE.reset) endings.push(REQUESTS_ENDING);
  if (requestId !== undefined) endings.push(requestEnding(requestId));
  const isRepeatable = requestId !== undefined || REPEATABLE.includes(mode);
  const ask = {
    mode,
    calls: rest.calls ?? 1,
    isPartial: rest.isPartial ?? false,
    amount: rest.amount ?? 0,
    token: rest.token ?? NO_TOKEN,
    rules: policies.map((policy) => ruleOf(policy, cost)),
    isHead: policies.map((_, i) => i === 0),
    endings,
    hasHolds,
    hasRequest: requestId !== undefined,
  };
  const grows = needsMemory(mode, cost, ask.amount) && !rest.isFull;
  return [decideFor(policies.length, endings.length, isRepeatable, grows), ask];
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
