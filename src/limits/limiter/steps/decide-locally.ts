import { KIND, MAX_RESERVATIONS, MODE, STATUS } from "../../../generated/layouts/limiter.ts";
import type { Keyspace } from "../../../store/contract.ts";
import { refusal } from "../../../store/refusal.ts";
import { CalendarWindowState } from "./calendar-window.ts";
import { ConcurrencyState } from "./concurrency.ts";
import { type DecideReply, type DecideRequest, keysOf } from "./decide.ts";
import { FixedWindowState } from "./fixed-window.ts";
import { LeakyBucketState } from "./leaky-bucket.ts";
import { RepeatedRequests } from "./repeated-requests.ts";
import { Reservations } from "./reservations.ts";
import type { PolicyState, Rule, StateContext } from "./rule.ts";
import { SlidingWindowState } from "./sliding-window.ts";

type AfterStep = (change: () => void) => void;

/** One policy while its step decides. */
interface PolicyTurn {
  rule: Rule;
  state: PolicyState;
  isHead: boolean;
  reservations: Reservations | undefined;
  passes: number;
  waitMs: number;
}

/** The step in this process. The twin of lua/limiter/decide.lua, which states the rules. */
export function decideLocally(keys: Keyspace, key: string, request: DecideRequest, nowMs: number): DecideReply {
  const changes: (() => void)[] = [];
  const reply = decideNow(keys, keysOf(key, request), request, nowMs, (change) => changes.push(change));
  for (const change of changes) change();
  return reply;
}

/** By the names of the steps. */
export const decisionForms = { "limiter/decide": decideLocally, "limiter/without-growth": decideLocally };

function decideNow(
  keys: Keyspace,
  names: readonly string[],
  request: DecideRequest,
  nowMs: number,
  afterStep: AfterStep,
): DecideReply {
  const { mode, rules, token, amount } = request;
  const requests = request.hasRequest ? new RepeatedRequests(keys, names, request) : undefined;
  const replied = requests?.replied(names[0]!, nowMs);
  if (replied) return replied;
  if (mode === MODE.reset) {
    for (const name of names) keys.delete(name);
    return emptyReply(STATUS.decided, rules.length);
  }
  const policies = read(keys, names, request, nowMs, afterStep);
  if (policies === STATUS.outside) return { ...emptyReply(policies, rules.length), permits: nowMs };
  if (typeof policies === "number") return emptyReply(policies, rules.length);

  let blockedMs = Math.max(0, ...policies.map(({ isHead, state }) => (isHead ? state.blockedUntilMs - nowMs : 0)));
  let granted = 0;
  let permits = rules[0]!.cost;
  if (mode === MODE.take || mode === MODE.peek || mode === MODE.reserve) {
    const isRepeated = mode === MODE.reserve && policies[0]!.reservations?.find(token) !== undefined;
    if (isRepeated) granted = 1;
    else [granted, permits] = take(policies, request, blockedMs);
    if (mode === MODE.reserve && granted > 0 && !isRepeated) reserve(policies[0]!, token, amount);
  } else {
    const status = change(policies, request, nowMs);
    if (status !== STATUS.decided) return emptyReply(status, rules.length);
    if (mode === MODE.block) blockedMs = amount;
  }
  const reply: DecideReply = {
    status: STATUS.decided,
    granted,
    permits,
    blockedMs,
    policies: policies.map(({ passes, waitMs, rule, state, reservations }) => ({
      passes,
      endMinute: rule.calendar > 0 ? state.endMs! / 60_000 : 0,
      used: state.used,
      reserved: reservations?.sum ?? 0,
      waitMs,
      resetMs: state.resetMs(),
    })),
  };
  if (granted > 0) requests?.remember(reply, token, nowMs);
  return reply;
}

/**
 * Reads the states. Returns a status if there are reservations and the request does not have their keys, or if a calendar window
 * does not hold the time.
 */
function read(
  keys: Keyspace,
  names: readonly string[],
  request: DecideRequest,
  nowMs: number,
  afterStep: AfterStep,
): PolicyTurn[] | number {
  const policies: PolicyTurn[] = [];
  let nextReservations = request.rules.length;
  let reservations: Reservations | undefined;
  for (const [i, rule] of request.rules.entries()) {
    if (rule.kind === KIND.calendar && (nowMs < rule.spanMs || nowMs >= rule.rate)) return STATUS.outside;
    const state = stateOf({ keys, key: names[i]!, rule, nowMs, afterStep });
    const isHead = request.isHead[i]!;
    if (isHead) {
      reservations = request.hasReservations ? new Reservations(keys, names[nextReservations++]!, nowMs) : undefined;
      if (!reservations && state.reservedUntilMs > nowMs) return STATUS.reservationsNeeded;
    }
    policies.push({ rule, state, isHead, reservations, passes: 0, waitMs: 0 });
  }
  return policies;
}

function stateOf(context: StateContext): PolicyState {
  const { kind } = context.rule;
  if (kind === KIND.fixed) return new FixedWindowState(context);
  if (kind === KIND.sliding) return new SlidingWindowState(context);
  if (kind === KIND.leaky) return new LeakyBucketState(context);
  if (kind === KIND.calendar) return new CalendarWindowState(context);
  return new ConcurrencyState(context);
}

const freeOf = ({ state, reservations }: PolicyTurn) => state.free - (reservations?.sum ?? 0);

/** Returns the number of calls that pass, and the permits of each. */
function take(policies: PolicyTurn[], request: DecideRequest, blockedMs: number): [granted: number, permits: number] {
  const { calls, mode, isPartial, amount, token } = request;
  let costs = policies.map(({ rule }) => rule.cost);
  if (isPartial) {
    const available = Math.min(costs[0]!, ...policies.filter(({ rule }) => !rule.isShadow).map(freeOf));
    costs = costs.map(() => Math.max(available, amount));
  }
  let granted = blockedMs > 0 ? 0 : calls;
  for (const [i, policy] of policies.entries()) {
    const cost = costs[i]!;
    policy.passes = cost === 0 ? calls : Math.max(0, Math.min(calls, Math.floor(freeOf(policy) / cost)));
    if (!policy.rule.isShadow) granted = Math.min(granted, policy.passes);
  }
  for (const [i, policy] of policies.entries()) {
    const { state, reservations, passes } = policy;
    const cost = costs[i]!;
    const taken = Math.min(granted, passes);
    if (mode === MODE.take && taken > 0 && cost > 0) state.take(taken, cost, token);
    if (passes >= calls || passes > granted) continue;
    if (reservations) policy.waitMs = reservations.waitMs(state, cost);
    else policy.waitMs = cost <= state.free ? 0 : state.waitMs(cost);
  }
  return [granted, costs[0]!];
}

function reserve({ state, reservations, rule }: PolicyTurn, token: string, leaseMs: number): void {
  if (reservations!.isFull)
    throw refusal("OVERLOADED", `the id has ${MAX_RESERVATIONS} open reservations, its maximum`);
  state.reservedUntilMs = Math.max(state.reservedUntilMs, reservations!.add(token, leaseMs, rule.cost));
  state.write();
}

/** The modes that change a state without asking it. Returns their status. */
function change(policies: PolicyTurn[], { mode, token, amount }: DecideRequest, nowMs: number): number {
  if (mode === MODE.settle) {
    const reservation = policies[0]!.reservations!.find(token);
    if (!reservation) return STATUS.notReserved;
    if (reservation.permits < 0) return STATUS.settled;
    policies[0]!.reservations!.settle(token);
  }
  for (const { rule, state, isHead } of policies)
    if (mode === MODE.add || mode === MODE.settle) {
      if (rule.kind !== KIND.concurrency && rule.cost > 0) state.take(1, rule.cost, token);
    } else if (mode === MODE.giveBack) state.giveBack(rule.cost);
    else if (mode === MODE.release) state.release?.(token);
    else if (mode === MODE.block && isHead) {
      state.blockedUntilMs = amount > 0 ? nowMs + amount : 0;
      state.write();
    }
  return STATUS.decided;
}

function emptyReply(status: number, count: number): DecideReply {
  const policy = { passes: 0, endMinute: 0, used: 0, reserved: 0, waitMs: 0, resetMs: 0 };
  return { status, granted: 0, permits: 0, blockedMs: 0, policies: Array.from({ length: count }, () => policy) };
}
