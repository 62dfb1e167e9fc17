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
  /** Those of its limiter. `place`: its place among the limiter's policies. */
  reservations: Reservations | undefined;
  place: number;
  passes: number;
  waitMs: number;
}

/** The step in this process. The twin of lua/limiter/decide.lua, which states the rules. */
export function decideLocally(keys: Keyspace, key: string, request: DecideRequest, nowMs: number): DecideReply {
  const changes: (() => void)[] = [];
  const undos: (() => void)[] = [];
  const step = { keys, names: keysOf(key, request), request, nowMs, undos };
  try {
    const reply = decideNow(step, (change) => changes.push(change));
    for (const change of changes) change();
    return reply;
  } catch (error) {
    for (const undo of undos.reverse()) undo();
    throw error;
  }
}

/** One run of the step. `undos` take back what was changed in place, and not in `keys`. */
interface Step {
  keys: Keyspace;
  names: readonly string[];
  request: DecideRequest;
  nowMs: number;
  undos: (() => void)[];
}

/** By the names of the steps. */
export const decisionForms = { "limiter/decide": decideLocally, "limiter/without-growth": decideLocally };

function decideNow(step: Step, afterStep: AfterStep): DecideReply {
  const { keys, names, request, nowMs } = step;
  const { mode, rules, token, amount } = request;
  const requests = request.hasRequest ? new RepeatedRequests(keys, names, request) : undefined;
  const replied = requests?.replied(names[0]!, nowMs);
  if (replied) return replied;
  if (mode === MODE.reset) {
    for (const name of names) keys.delete(name);
    return emptyReply(STATUS.decided, rules.length);
  }
  let policies = read(step, afterStep);
  if (policies === STATUS.outside) return { ...emptyReply(policies, rules.length), permits: nowMs };
  if (typeof policies === "number") return emptyReply(policies, rules.length);

  policies = chargeEnded(step, policies, afterStep);

  let blockedMs = Math.max(0, ...policies.map(({ isHead, state }) => (isHead ? state.blockedUntilMs - nowMs : 0)));
  let status = STATUS.decided as number;
  let granted = 0;
  let permits = rules[0]!.cost;
  if (mode === MODE.take || mode === MODE.peek || mode === MODE.reserve) {
    [granted, permits] =
      mode === MODE.reserve ? reserve(policies, request, blockedMs) : take(policies, request, blockedMs);
  } else if (mode === MODE.settle || mode === MODE.charge) {
    permits = 0;
    status = charge(policies, request);
    if (status === STATUS.notReserved) return emptyReply(status, rules.length);
  } else {
    change(policies, request, nowMs);
    if (mode === MODE.block) blockedMs = amount;
  }
  const reply: DecideReply = {
    status,
    granted,
    permits,
    blockedMs,
    policies: policies.map((policy) => ({
      passes: policy.passes,
      endMinute: policy.rule.calendar > 0 ? policy.state.endMs! / 60_000 : 0,
      used: policy.state.used,
      reserved: reservedOf(policy),
      waitMs: policy.waitMs,
      resetMs: policy.state.resetMs(),
    })),
  };
  if (granted > 0) requests?.remember(reply, token, nowMs);
  return reply;
}

/**
 * Reads the states. Returns a status if there are reservations and the request does not have their keys, or if a calendar window
 * does not hold the time.
 */
function read({ keys, names, request, nowMs }: Step, afterStep: AfterStep): PolicyTurn[] | number {
  const policies: PolicyTurn[] = [];
  let nextReservations = request.rules.length;
  let reservations: Reservations | undefined;
  let place = 0;
  for (const [i, rule] of request.rules.entries()) {
    if (rule.kind === KIND.calendar && (nowMs < rule.spanMs || nowMs >= rule.rate)) return STATUS.outside;
    const state = stateOf({ keys, key: names[i]!, rule, nowMs, afterStep });
    const isHead = request.isHead[i]!;
    if (isHead) {
      place = 0;
      reservations = request.hasReservations
        ? new Reservations(keys, names[nextReservations++]!, nowMs, sizeOf(request, i))
        : undefined;
      if (!reservations && state.reservedUntilMs > nowMs) return STATUS.reservationsNeeded;
    }
    policies.push({ rule, state, isHead, reservations, place: place++, passes: 0, waitMs: 0 });
  }
  return policies;
}

/** The number of policies of the limiter whose first policy is the i-th. */
function sizeOf({ isHead }: DecideRequest, i: number): number {
  const next = isHead.indexOf(true, i + 1);
  return (next < 0 ? isHead.length : next) - i;
}

function stateOf(context: StateContext): PolicyState {
  const { kind } = context.rule;
  if (kind === KIND.fixed) return new FixedWindowState(context);
  if (kind === KIND.sliding) return new SlidingWindowState(context);
  if (kind === KIND.leaky) return new LeakyBucketState(context);
  if (kind === KIND.calendar) return new CalendarWindowState(context);
  return new ConcurrencyState(context);
}

const reservedOf = ({ reservations, place }: PolicyTurn) => reservations?.reserved(place) ?? 0;
const freeOf = (policy: PolicyTurn) => policy.state.free - reservedOf(policy);

/** The policies of each limiter that has reservations. */
function* withReservations(policies: readonly PolicyTurn[]): Iterable<[Reservations, PolicyTurn[]]> {
  for (const { isHead, reservations } of policies)
    if (isHead && reservations) yield [reservations, policies.filter((one) => one.reservations === reservations)];
}

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
    if (reservations) policy.waitMs = reservations.waitMs(state, policy.place, cost);
    else policy.waitMs = cost <= state.free ? 0 : state.waitMs(cost);
  }
  if (mode === MODE.take && granted > 0) keepReservations(policies);
  return [granted, costs[0]!];
}

/**
 * Charges what reservations owe whose leases have ended, each as of that ms. Returns the policies as they are then. If the first policy
 * no longer requires them, that has no effect any more, and other steps may have taken permits since.
 */
function chargeEnded(step: Step, policies: PolicyTurn[], afterStep: AfterStep): PolicyTurn[] {
  let hasOwed = false;
  for (const [{ owed }, own] of withReservations(policies))
    for (const { token, atMs, rests } of owed) {
      hasOwed = true;
      for (const policy of own[0]!.state.reservedUntilMs > 0 ? own : [])
        chargeAt(step, policy.rule, policies.indexOf(policy), rests[policy.place]!, atMs, token);
    }
  if (!hasOwed) return policies;
  const charged = read(step, afterStep) as PolicyTurn[];
  for (const [reservations, own] of withReservations(charged))
    if (reservations.owed.length > 0) reservations.chargeOwed(own);
  return charged;
}

/** Charges permits as of the end of a lease. Those of a calendar window that is over have no effect. */
function chargeAt(step: Step, rule: Rule, i: number, permits: number, endMs: number, token: string): void {
  const { keys, nowMs, undos } = step;
  if (permits === 0 || rule.kind === KIND.concurrency) return;
  const context = {
    keys: {
      ...keys,
      // A state that is over by now is not kept.
      set: (...[key, value, sizeBytes, expireAtMs]: Parameters<Keyspace["set"]>) =>
        expireAtMs > nowMs ? keys.set(key, value, sizeBytes, expireAtMs) : keys.delete(key),
    },
    key: step.names[i]!,
    rule,
    nowMs: rule.kind === KIND.calendar ? nowMs : endMs,
    afterStep: (change: () => void) => change(),
  };
  const state = stateOf(context);
  if (state.startMs !== undefined && endMs < state.startMs) return;
  state.take(1, permits, token);
  // The log of a sliding window has changed in place.
  undos.push(() => stateOf(context).giveBack(permits));
}

/** Same as `take`. A repeated reserve is granted. */
function reserve(
  policies: PolicyTurn[],
  request: DecideRequest,
  blockedMs: number,
): [granted: number, permits: number] {
  const { token, amount, isChargedAtEnd, rules } = request;
  if (policies.some(({ reservations }) => reservations!.has(token))) {
    for (const policy of policies) policy.passes = 1;
    return [1, rules[0]!.cost];
  }
  const answer = take(policies, request, blockedMs);
  if (answer[0] === 0) return answer;
  if (policies.some(({ reservations }) => reservations!.isFull))
    throw refusal("OVERLOADED", `the id has ${MAX_RESERVATIONS} open reservations, its maximum`);
  for (const [reservations, own] of withReservations(policies)) {
    const costs = own.map(({ rule }) => rule.cost);
    reservations.add(token, amount, isChargedAtEnd === true, costs);
    writeReservations(reservations, own);
  }
  return answer;
}

/**
 * Writes reservations and the first policy of their limiter, whose state requires their key until the last one has ended. A later
 * charge is added to each state as it was at the end, so all states are kept as long.
 */
function writeReservations(reservations: Reservations, own: readonly PolicyTurn[]): void {
  const endMs = reservations.write(own);
  for (const { state, place } of own) {
    const untilMs = place === 0 || reservations.isOwing ? endMs : 0;
    if (place > 0 && state.reservedUntilMs === untilMs) continue;
    state.reservedUntilMs = untilMs;
    state.write();
  }
}

/** Later charges may matter for longer after permits were taken from a bucket. */
function keepReservations(policies: readonly PolicyTurn[]): void {
  for (const [reservations, own] of withReservations(policies))
    if (reservations.endMs(own) > own[0]!.state.reservedUntilMs) writeReservations(reservations, own);
}

/** Charges or settles a reservation: all permits so far, less those that were charged before. Returns a status. */
function charge(policies: readonly PolicyTurn[], { mode, token, amount }: DecideRequest): number {
  const open = policies.filter(({ reservations }) => reservations!.isOpen(token));
  for (const policy of policies) {
    const { rule, state, reservations, place } = policy;
    if (rule.kind === KIND.concurrency) continue;
    const charged = reservations!.charged(token, place);
    const due = open.includes(policy) ? Math.max(0, rule.cost - charged) : 0;
    policy.passes = charged + due;
    if (due > 0) state.take(1, due, token);
  }
  for (const [reservations, own] of withReservations(open)) {
    const charged = own.map(({ passes }) => passes);
    if (mode === MODE.settle) reservations.settle(token, charged);
    else reservations.charge(token, charged, amount);
    writeReservations(reservations, own);
  }
  if (open.length > 0) return STATUS.decided;
  return policies.some(({ reservations }) => reservations!.has(token)) ? STATUS.settled : STATUS.notReserved;
}

/** The other modes that change a state without asking it. */
function change(policies: readonly PolicyTurn[], { mode, token, amount }: DecideRequest, nowMs: number): void {
  for (const { rule, state, isHead } of policies)
    if (mode === MODE.add) {
      if (rule.kind !== KIND.concurrency && rule.cost > 0) state.take(1, rule.cost, token);
    } else if (mode === MODE.giveBack) state.giveBack(rule.cost);
    else if (mode === MODE.release) state.release?.(token);
    else if (mode === MODE.block && isHead) {
      state.blockedUntilMs = amount > 0 ? nowMs + amount : 0;
      state.write();
    }
  keepReservations(policies);
}

function emptyReply(status: number, count: number): DecideReply {
  const policy = { passes: 0, endMinute: 0, used: 0, reserved: 0, waitMs: 0, resetMs: 0 };
  return { status, granted: 0, permits: 0, blockedMs: 0, policies: Array.from({ length: count }, () => policy) };
}
