import { TRIAL_MS } from "../../../src/generated/layouts/hold.ts";
import { MODE } from "../../../src/generated/layouts/limiter.ts";
import type { State, StoredHold, Ticket } from "../../../src/holds/steps/state.ts";
import type { LentPermit } from "../../../src/limits/limiter/steps/concurrency.ts";
import type { DecideReply, DecideRequest } from "../../../src/limits/limiter/steps/decide.ts";
import type { Keyspace, RunOptions } from "../../../src/store/contract.ts";
import { CALM } from "../world/network.ts";
import type { Plan } from "./plan.ts";

interface Input {
  readonly token: string;
  readonly tickets: readonly Ticket[];
  readonly mayWait: boolean;
}

type Local = (keys: Keyspace, key: string, input: Input, nowMs: number) => unknown;
type Change = (real: Local) => Local;

/** A rule taken out of the code under test. */
export interface Mutation {
  /** The rule, and what is done instead. */
  readonly rule: string;
  /** Conditions that make it likely that the rule is needed soon. */
  readonly conditions?: Partial<Plan>;
  /** Other in-process forms of steps, made of the true ones. */
  readonly steps?: Readonly<Record<string, Change>>;
  /** How the steps of a process run. */
  readonly options?: (step: string, options: RunOptions | undefined) => RunOptions | undefined;
  /** The lease clock does not count the time for which a process is frozen. */
  readonly hasShortClock?: true;
  /** No message is sent. */
  readonly isSilent?: true;
}

/** The step finds another state than the stored one. */
const finding =
  (changed: (state: State, input: Input, nowMs: number) => Partial<State>): Change =>
  (real) =>
  (keys, key, input, nowMs) => {
    const get = (each: string) => {
      const state = keys.get(each) as State | undefined;
      return state && { ...state, ...changed(state, input, nowMs) };
    };
    return real({ ...keys, get }, key, input, nowMs);
  };

/** The step finds other holds than the stored ones. */
const findingHolds = (changed: (hold: StoredHold, input: Input, nowMs: number) => StoredHold): Change =>
  finding(({ holds }, input, nowMs) => ({ holds: holds.map((hold) => changed(hold, input, nowMs)) }));

/** The step leaves other places than the true one. `before` is the state that it found. */
const leavingPlaces =
  (changed: (after: State, before: State, input: Input) => readonly Ticket[]): Change =>
  (real) =>
  (keys, key, input, nowMs) => {
    const before = keys.get(key) as State | undefined;
    const set: Keyspace["set"] = (each, value, ...rest) => {
      const after = value as State;
      keys.set(each, before ? { ...after, places: changed(after, before, input) } : after, ...rest);
    };
    return real({ ...keys, set }, key, input, nowMs);
  };

/** A step of a limiter. */
const ofLimiter =
  (
    changed: (
      real: (input: DecideRequest, its?: Keyspace) => DecideReply,
      input: DecideRequest,
      keys: Keyspace,
      key: string,
      nowMs: number,
    ) => DecideReply,
  ): Change =>
  (real) =>
  (keys, key, input, nowMs) => {
    const run = (its: DecideRequest, those = keys) => real(those, key, its as never, nowMs) as DecideReply;
    return changed(run, input as never as DecideRequest, keys, key, nowMs);
  };
const lentIn = (keys: Keyspace, key: string) => keys.get(key) as { lent: readonly LentPermit[] } | undefined;

const ofBoth = (change: Change) => ({ "hold/take": change, "hold/leave": change });
const tokensOf = ({ holds, places }: State) => new Set([...holds, ...places].map(({ token }) => token));

export const MUTATIONS: readonly Mutation[] = [
  {
    rule: "a release ends the hold of its token: any hold",
    steps: {
      "hold/leave": (real) => (keys, key, input, nowMs) => {
        const { holds = [] } = (keys.get(key) as State | undefined) ?? {};
        const isThere = holds.some(({ token }) => token === input.token);
        return real(keys, key, { ...input, token: isThere ? input.token : (holds[0]?.token ?? input.token) }, nowMs);
      },
    },
  },
  {
    rule: "the number of a hold is higher than the last, when the clock is set back too: it is the time",
    conditions: { stepsBack: 10 },
    steps: ofBoth(finding(({ holds }) => (holds.length === 0 ? { last: 0 } : {}))),
  },
  {
    rule: "a trial that nobody confirms is taken back: it lasts",
    conditions: { kills: 6 },
    steps: ofBoth(findingHolds((hold, _, nowMs) => (hold.isOnTrial ? { ...hold, endMs: nowMs + TRIAL_MS } : hold))),
  },
  {
    rule: "after a missed trial other processes lose their places, so that dead ones cost one together: they keep them",
    conditions: { kills: 6, kinds: ["lock"], callerCount: 3 },
    steps: ofBoth(
      leavingPlaces((after, before, { token }) => {
        const known = tokensOf(after);
        const kept = before.places.filter((place) => !known.has(place.token) && place.token !== token);
        return [...kept, ...after.places];
      }),
    ),
  },
  {
    rule: "the first that waits is served: the last",
    steps: ofBoth(finding(({ places }) => ({ places: [...places.slice(-1), ...places.slice(0, -1)] }))),
  },
  {
    rule: "a hold that has ended is not renewed: it is",
    steps: { "hold/renew": findingHolds((hold, _, nowMs) => ({ ...hold, endMs: Math.max(hold.endMs, nowMs) })) },
  },
  {
    rule: "readers wait for a writer: they ignore it",
    conditions: { kinds: ["read-write lock"] },
    steps: ofBoth(findingHolds((hold) => ({ ...hold, permits: hold.permits > 1 ? 0 : hold.permits }))),
  },
  {
    rule: "a hold lasts for its lease: for 30 ms less",
    steps: ofBoth(
      finding(({ holds }, _, nowMs) => ({
        holds: holds.filter(({ endMs, isOnTrial }) => isOnTrial || endMs >= nowMs + 30),
      })),
    ),
  },
  {
    rule: "a renewal shortens no lease: it ends then",
    conditions: { kinds: ["lock"] },
    steps: {
      "hold/renew": findingHolds((hold, { token }, nowMs) =>
        hold.token === token ? { ...hold, endMs: Math.min(hold.endMs, nowMs) } : hold,
      ),
    },
  },
  {
    rule: "a call that does not wait has no place: it has one",
    steps: { "hold/take": (real) => (keys, key, input, nowMs) => real(keys, key, { ...input, mayWait: true }, nowMs) },
  },
  {
    rule: "a call that does not wait gets nothing while others wait: it overtakes them",
    conditions: { kinds: ["semaphore"] },
    steps: {
      "hold/take": (real) => (keys, key, input, nowMs) => {
        if (input.mayWait) return real(keys, key, input, nowMs);
        const overtaking = leavingPlaces((after, before) => [...before.places, ...after.places]);
        return overtaking((...call) => finding(() => ({ places: [] }))(real)(...call))(keys, key, input, nowMs);
      },
    },
  },
  {
    rule: "who gives up has no place any more: it keeps its place",
    steps: {
      "hold/leave": leavingPlaces((after, before, { token }) => {
        const place = before.places.find((each) => each.token === token);
        return place ? [place, ...after.places] : after.places;
      }),
    },
  },
  {
    rule: "a request that is repeated finds the hold of the first: it gets another one",
    conditions: { kinds: ["semaphore"] },
    steps: {
      "hold/take": finding(({ holds }, { tickets }) => ({
        holds: holds.filter(({ token, isOnTrial }) => isOnTrial || !tickets.some((each) => each.token === token)),
      })),
    },
  },
  {
    rule: "who is next gets a message: it gets none",
    conditions: { isCalm: true, kills: 0, killsAtSend: 0, lostNews: 0, hasNews: true, kinds: ["lock"] },
    isSilent: true,
  },
  {
    rule: "a hold with `replicas` is theirs before it is granted: it is granted before",
    conditions: { replicas: 1, failovers: 20, losses: 0, stepsAhead: 0 },
    options: (step, options) => (step === "hold/take" ? { ...options, replicas: 0 } : options),
  },
  {
    rule: "a renewal with `replicas` is theirs before it counts: it counts before",
    conditions: { replicas: 1, failovers: 20, losses: 0, stepsAhead: 0, longestWorkMs: 1500 },
    options: (step, options) => (step === "hold/renew" ? { ...options, replicas: 0 } : options),
  },
  {
    rule: "time for which a process was frozen counts for its leases: it does not",
    conditions: { freezesAtSend: 0.02, stepsAhead: 0, failovers: 0, losses: 0 },
    hasShortClock: true,
  },
  {
    rule: "a newcomer gets no permit while others wait for it: it sees nobody",
    conditions: { kinds: ["acquire"], isCalm: true, weather: CALM },
    steps: { "hold/look": finding(() => ({ holds: [], places: [] })) },
  },
  {
    rule: "the turn of a dead caller ends after 5 s: after a minute",
    conditions: { kinds: ["acquire"], kills: 6 },
    steps: {
      "hold/take": (real) => (keys, key, input, nowMs) => {
        const tickets = input.tickets.map((ticket) => ({ ...ticket, leaseMs: 60_000 }));
        return real(keys, key, { ...input, tickets }, nowMs);
      },
    },
  },
  {
    rule: "a call that one policy denies is charged to none: the rate is charged",
    conditions: { kinds: ["acquire at a rate"] },
    steps: {
      "limiter/decide": ofLimiter((real, input) => {
        const reply = real(input);
        const [rules, keySuffixes] = [input.rules.slice(1), input.keySuffixes.slice(1)];
        if (reply.granted === 0) real({ ...input, rules, keySuffixes });
        return reply;
      }),
    },
  },
  {
    rule: "a call that passes is charged to all policies: to the first",
    conditions: { kinds: ["acquire at a rate"] },
    steps: {
      "limiter/decide": ofLimiter((real, input, keys, key) => {
        const set: Keyspace["set"] = (each, ...rest) => each === key + input.keySuffixes[0] && keys.set(each, ...rest);
        return real(input, { ...keys, set });
      }),
    },
  },
  {
    rule: "a release gives back the permit of its token: the oldest one",
    conditions: { kinds: ["acquire"] },
    steps: {
      "limiter/without-growth": ofLimiter((real, input, keys, key) => {
        const oldest = lentIn(keys, key + input.keySuffixes[0])?.lent[0];
        return real(input.mode === MODE.release && oldest ? { ...input, token: oldest.token } : input);
      }),
    },
  },
  {
    rule: "a permit is lent for its lease: for 500 ms less",
    conditions: { kinds: ["acquire"], longestWorkMs: 1500 },
    steps: {
      "limiter/decide": ofLimiter((real, input, keys, _key, nowMs) => {
        const get = (each: string) => {
          const state = lentIn(keys, each);
          return state && { ...state, lent: state.lent.filter(({ expireAtMs }) => expireAtMs > nowMs + 500) };
        };
        return real(input, { ...keys, get });
      }),
    },
  },
];
