import { CALM, type Weather } from "../world/network.ts";
import { Random } from "../world/random.ts";

export type Kind = "lock" | "locks" | "read-write lock" | "semaphore" | "acquire" | "acquire at a rate";

/** One schedule's conditions, all drawn from its seed. */
export interface Plan {
  readonly seed: number;
  readonly durationMs: number;
  /** No request is lost, late or doubled, and nothing stands still. Processes may die, and messages on channels may be lost. */
  readonly isCalm: boolean;
  readonly weather: Weather;
  /** Probability that a message on a channel is lost. The others come up to `lateNewsMs` late. */
  readonly lostNews: number;
  readonly lateNewsMs: number;
  readonly kinds: readonly Kind[];
  readonly limit: number;
  readonly replicas: number;
  readonly processCount: number;
  readonly callerCount: number;
  readonly paceMs: number;
  readonly longestWorkMs: number;
  /** How often each of these happens. */
  readonly kills: number;
  readonly pauses: number;
  readonly cuts: number;
  readonly silences: number;
  readonly refusals: number;
  readonly failovers: number;
  readonly losses: number;
  readonly stepsBack: number;
  readonly stepsAhead: number;
  /** Probability that a process dies, or is frozen, just after it has sent a request. */
  readonly killsAtSend: number;
  readonly freezesAtSend: number;
  /** Locks that an operator releases by force. */
  readonly forced: number;
  /** A store over HTTP has no subscriptions: its waiters poll. */
  readonly hasNews: boolean;
  /** Callers of the first process, if it has more than the others: more than have a place at a time. */
  readonly crowd: number;
}

const KINDS: readonly (readonly Kind[])[] = [
  ["lock"],
  ["lock", "locks"],
  ["read-write lock"],
  ["semaphore"],
  ["acquire"],
  ["acquire", "acquire at a rate"],
  ["lock", "read-write lock", "semaphore", "locks"],
];

export function planOf(seed: number): Plan {
  const random = new Random(seed ^ 0x401d);
  const isCalm = random.chance(0.25);
  const some = (probability: number, most: number) => (random.chance(probability) ? random.int(1, most) : 0);
  const ifRough = (probability: number, most: number) => (isCalm ? 0 : some(probability, most));
  const level = random.pick([0, 0.02, 0.1, 0.25]);
  const weather = {
    lostRequest: random.pick([0, level]),
    lostReply: random.pick([0, level]),
    repeated: random.pick([0, level]),
    repeatedLateMs: random.pick([20, 400, 5000]),
    slow: random.pick([0, level]),
    slowMs: random.pick([50, 400, 3000]),
  };
  const replicas = random.pick([0, 0, 1]);
  return {
    seed,
    durationMs: random.int(8_000, 25_000),
    isCalm,
    weather: isCalm ? CALM : weather,
    lostNews: random.pick([0, 0, 0.2, 1]),
    lateNewsMs: random.pick([3, 3, isCalm ? 3 : 300]),
    kinds: random.pick(KINDS),
    limit: random.int(2, 4),
    replicas,
    processCount: random.int(2, 4),
    callerCount: random.int(1, 3),
    paceMs: random.pick([10, 60, 400]),
    longestWorkMs: random.pick([20, 200, 1500]),
    kills: some(0.4, 4),
    pauses: ifRough(0.4, 4),
    cuts: ifRough(0.4, 4),
    silences: ifRough(0.3, 2),
    refusals: ifRough(0.3, 2),
    failovers: ifRough(0.3, 3),
    losses: replicas === 0 ? ifRough(0.15, 2) : 0,
    stepsBack: some(0.3, 4),
    stepsAhead: ifRough(0.2, 3),
    killsAtSend: random.pick([0, 0, 0.005]),
    freezesAtSend: isCalm ? 0 : random.pick([0, 0, 0.01]),
    forced: some(0.25, 4),
    hasNews: random.chance(0.85),
    crowd: random.chance(0.05) ? 80 : 0,
  };
}
