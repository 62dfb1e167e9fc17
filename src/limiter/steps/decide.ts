import { script } from "../../generated/limiter/decide.ts";
import { script as withoutGrowth } from "../../generated/limiter/without-growth.ts";
import type { Keyspace, PackedStep } from "../../store/contract.ts";
import { refusal } from "../../store/refusal.ts";
import { type Ask, MODE, type Reply, STATUS } from "./ask.ts";
import { lookFixed } from "./fixed.ts";
import { Holds } from "./holds.ts";
import { law } from "./law.ts";
import { lookLeaky } from "./leaky.ts";
import { packingOf } from "./packing.ts";
import { lookConcurrency } from "./permits.ts";
import { Requests } from "./requests.ts";
import { KIND, type Looked, type Rule } from "./rule.ts";
import { lookSliding } from "./sliding.ts";

type Later = (change: () => void) => void;

interface Policy {
  rule: Rule;
  looked: Looked;
  isHead: boolean;
  holds: Holds | undefined;
  passes: number;
  waitMs: number;
}

const made = new Map<string, PackedStep<Ask, Reply>>();

/**
 * Asks all policies and takes from all of them or none; law in lua/limiter/decide.lua. One operation for each number of
 * policies and keys, since what travels together is alike in size. `grows`: may need memory, and is refused by a server
 * that is full; else lua/limiter/without-growth.lua.
 */
export function decideFor(
  policies: number,
  keyCount: number,
  repeatable: boolean,
  grows = true,
): PackedStep<Ask, Reply> {
  const name = `${policies} ${keyCount} ${repeatable} ${grows}`;
  let operation = made.get(name);
  if (!operation) {
    operation = {
      name: grows ? "limiter/decide" : "limiter/without-growth",
      script: grows ? script : withoutGrowth,
      keyCount,
      keysOf,
      repeatable,
      packing: packingOf(policies),
      local: decide,
    };
    made.set(name, operation);
  }
  return operation;
}

function keysOf(key: string, { endings }: Ask): string[] {
  return endings.map((ending) => key + ending);
}

function decide(keys: Keyspace, key: string, ask: Ask, nowMs: number): Reply {
  const changes: (() => void)[] = [];
  const reply = decideNow(keys, keysOf(key, ask), ask, nowMs, (change) => changes.push(change));
  for (const change of changes) change();
  return reply;
}

function decideNow(keys: Keyspace, names: readonly string[], ask: Ask, nowMs: number, later: Later): Reply {
  const { mode, rules, token, amount } = ask;
  const requests = ask.hasRequest ? new Requests(keys, names, ask) : undefined;
  const answered = requests?.answered(names[0]!, nowMs);
  if (answered) return answered;
  if (mode === MODE.reset) {
    for (const name of names) keys.delete(name);
    return unanswered(STATUS.decided, rules.length);
  }
  const policies = lookAt(keys, names, ask, nowMs, later);
  if (!policies) return unanswered(STATUS.holdsNeeded, rules.length);

  let blockedMs = Math.max(0, ...policies.map(({ isHead, looked }) => (isHead ? looked.blockedUntilMs - nowMs : 0)));
  let granted = 0;
  let permits = rules[0].cost;
  if (mode === MODE.take || mode === MODE.peek || mode === MODE.reserve) {
    const { holds } = policies[0];
    const isRepeated = mode === MODE.reserve && holds?.find(token) !== undefined;
    if (isRepeated) granted = 1;
    else [granted, permits] = take(policies, ask, blockedMs);
    if (mode === MODE.reserve && granted > 0 && !isRepeated) reserve(policies[0], token, amount);
  } else {
    const status = change(policies, ask, nowMs);
    if (status !== STATUS.decided) return unanswered(status, rules.length);
    if (mode === MODE.block) blockedMs = amount;
  }
  const reply: Reply = {
    status: STATUS.decided,
    granted,
    permits,
    blockedMs,
    policies: policies.map(({ passes, waitMs, looked, holds }) => ({
      passes,
      used: looked.used,
      held: holds?.sum ?? 0,
      waitMs,
      resetMs: looked.resetMs(),
    })),
  };
  if (granted > 0) requests?.remember(reply, token, nowMs);
  return reply;
}

/** Undefined where holds that count were not given. */
function lookAt(keys: Keyspace, names: readonly string[], ask: Ask, nowMs: number, later: Later): Policy[] | undefined {
  const policies: Policy[] = [];
  let nextHolds = ask.rules.length;
  let holds: Holds | undefined;
  for (const [i, rule] of ask.rules.entries()) {
    const looked = look(keys, names[i], rule, nowMs, later);
    const isHead = ask.isHead[i];
    if (isHead) {
      holds = ask.hasHolds ? new Holds(keys, names[nextHolds++], nowMs) : undefined;
      if (!holds && looked.holdsUntilMs > nowMs) return undefined;
    }
    policies.push({ rule, looked, isHead, holds, passes: 0, waitMs: 0 });
  }
  return policies;
}

function look(keys: Keyspace, key: string, rule: Rule, nowMs: number, later: Later): Looked {
  if (rule.kind === KIND.fixed) return lookFixed(keys, key, rule, nowMs);
  if (rule.kind === KIND.sliding) return lookSliding(keys, key, rule, nowMs, later);
  return rule.kind === KIND.leaky ? lookLeaky(keys, key, rule, nowMs) : lookConcurrency(keys, key, rule, nowMs);
}

const freeOf = ({ looked, holds }: Policy) => looked.free - (holds?.sum ?? 0);

/** How many of the calls pass, and with how many permits each. */
function take(policies: Policy[], ask: Ask, blockedMs: number): [granted: number, permits: number] {
  const { calls, mode, isPartial, amount, token } = ask;
  let costs = policies.map(({ rule }) => rule.cost);
  if (isPartial) {
    const less = Math.min(costs[0], ...policies.filter(({ rule }) => !rule.isShadow).map(freeOf));
    costs = costs.map(() => Math.max(less, amount));
  }
  let granted = blockedMs > 0 ? 0 : calls;
  for (const [i, policy] of policies.entries()) {
    policy.passes = costs[i] === 0 ? calls : Math.max(0, Math.min(calls, Math.floor(freeOf(policy) / costs[i])));
    if (!policy.rule.isShadow) granted = Math.min(granted, policy.passes);
  }
  for (const [i, policy] of policies.entries()) {
    const { looked, holds, passes } = policy;
    const taken = Math.min(granted, passes);
    if (mode === MODE.take && taken > 0 && costs[i] > 0) {
      looked.put(taken, costs[i], token);
      looked.free -= taken * costs[i];
    }
    if (passes >= calls || passes > granted) continue;
    if (holds) policy.waitMs = holds.waitMs(looked, costs[i]);
    else policy.waitMs = costs[i] <= looked.free ? 0 : looked.waitMs(costs[i]);
  }
  return [granted, costs[0]];
}

function reserve({ looked, holds, rule }: Policy, token: string, leaseMs: number): void {
  if (holds!.isFull) throw refusal("OVERLOADED", `${law.mostHeld} reservations of this id are open`);
  looked.holdsUntilMs = Math.max(looked.holdsUntilMs, holds!.add(token, leaseMs, rule.cost));
  looked.write();
}

/** Steps that change a state whatever it is; their status. */
function change(policies: Policy[], { mode, token, amount }: Ask, nowMs: number): number {
  if (mode === MODE.settle) {
    const held = policies[0].holds!.find(token);
    if (!held) return STATUS.notReserved;
    if (held.permits < 0) return STATUS.settled;
    policies[0].holds!.settle(token);
  }
  for (const { rule, looked, isHead } of policies)
    if (mode === MODE.add || mode === MODE.settle) {
      if (rule.kind !== KIND.concurrency && rule.cost > 0) looked.put(1, rule.cost, token);
    } else if (mode === MODE.giveBack) looked.back(rule.cost);
    else if (mode === MODE.release) looked.release?.(token);
    else if (mode === MODE.block && isHead) {
      looked.blockedUntilMs = amount > 0 ? nowMs + amount : 0;
      looked.write();
    }
  return STATUS.decided;
}

function unanswered(status: number, count: number): Reply {
  const none = { passes: 0, used: 0, held: 0, waitMs: 0, resetMs: 0 };
  return { status, granted: 0, permits: 0, blockedMs: 0, policies: Array.from({ length: count }, () => none) };
}
