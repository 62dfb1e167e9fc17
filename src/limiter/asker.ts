import type { Store } from "../store/contract.ts";
import { MODE, type Reply, STATUS } from "./ask.ts";
import { decideFor } from "./decide.ts";
import { holdsKey, policyKeys, requestKey } from "./keys.ts";
import type { Policy } from "./policies.ts";
import type { Rule } from "./rule.ts";

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
  signal?: AbortSignal | undefined;
}

/** What may be sent again after a lost reply without counting twice. */
const REPEATABLE: readonly number[] = [MODE.peek, MODE.block, MODE.reset, MODE.reserve, MODE.settle, MODE.release];
const NO_TOKEN = "";

/** Asks the store; knows of which limiters permits were reserved, so that their holds are looked at. */
export class Asker {
  readonly #store: Store;
  #seesHolds = false;

  constructor(store: Store) {
    this.#store = store;
  }

  async ask(question: Question): Promise<Reply> {
    const hasHolds = question.hasHolds || this.#seesHolds;
    const reply = await this.#send(question, hasHolds);
    if (reply.status !== STATUS.holdsNeeded) return reply;
    this.#seesHolds = true;
    return this.#send(question, true);
  }

  #send({ base, policies, cost, mode, requestId, signal, ...rest }: Question, hasHolds: boolean): Promise<Reply> {
    const keys = policyKeys(base, policies);
    if (hasHolds) keys.push(holdsKey(base));
    if (requestId !== undefined) keys.push(requestKey(base, requestId));
    const isRepeatable = requestId !== undefined || REPEATABLE.includes(mode);
    const ask = {
      mode,
      calls: rest.calls ?? 1,
      isPartial: rest.isPartial ?? false,
      amount: rest.amount ?? 0,
      token: rest.token ?? NO_TOKEN,
      rules: policies.map((policy) => ruleOf(policy, cost)),
      isHead: headsOf(policies.length),
      keys,
      hasHolds,
      hasRequest: requestId !== undefined,
    };
    const operation = decideFor(policies.length, keys.length, isRepeatable);
    return this.#store.run(operation, keys[0], ask, signal && { signal });
  }
}

export function ruleOf({ kind, limit, spanMs, rate, isAligned, isShadow }: Policy, cost: number): Rule {
  return { kind, isShadow, isAligned, cost, limit, spanMs, rate };
}

const heads: boolean[][] = [];
function headsOf(count: number): boolean[] {
  heads[count] ??= Array.from({ length: count }, (_, i) => i === 0);
  return heads[count];
}
