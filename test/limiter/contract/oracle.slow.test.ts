import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Decision, Limiter } from "../../../src/entries/index.ts";
import { MODE } from "../../../src/generated/layouts/limiter.ts";
import { decisionOf, ruleOf } from "../../../src/limits/limiter/client/decision-client.ts";
import { decideLocally } from "../../../src/limits/limiter/steps/decide-locally.ts";
import { Entries } from "../../../src/store/memory/entries.ts";
import { type OpenStore, onMemory, onRedis, START_MS } from "../../harness/clock/stepped-stores.ts";
import { Random } from "../../simulator/world/random.ts";
import { KINDS, Oracle } from "./oracle.ts";
import type { Answer } from "./oracle-law.ts";
import { type Step, Trace } from "./trace.ts";

const { ORIEL_LIMITER_STEPS = "100000", ORIEL_LIMITER_API_STEPS = "2000", ORIEL_SEED } = process.env;
const seed = Number(ORIEL_SEED ?? Date.now() % 1_000_000);
/** The policy changes after this number of steps. */
const CHUNK = 5000;

const MODES = {
  take: MODE.take,
  peek: MODE.peek,
  penalty: MODE.add,
  reward: MODE.giveBack,
  release: MODE.release,
} as const;

const reported = ({ allowed, remaining, retryAfterMs, resetAfterMs }: Decision): Answer => ({
  allowed,
  remaining,
  retryAfterMs,
  resetAfterMs,
});

/** The step itself, with nothing of promises and batches around it. */
class Bare {
  readonly #entries = new Entries(2 ** 30);
  #lent = 0;

  ask({ verb, cost, policy }: Step, nowMs: number): Answer {
    const tokenOf = (n: number) => `${n.toString(16).padStart(24, "0")}00000000`;
    const token = tokenOf(verb === "release" ? cost : this.#lent);
    policy.calendar?.turnTo(nowMs);
    const asked = (mode: number, permits: number) => {
      const rules = [ruleOf(policy, permits)];
      const ask = { mode, calls: 1, isPartial: false, amount: 0, token, rules, isHead: [true], keySuffixes: [""] };
      const whole = { ...ask, hasReservations: false, hasRequest: false };
      return this.#entries.step(["k"], nowMs, (keys) => decideLocally(keys, "k", whole, nowMs));
    };
    const isAsking = verb === "take" || verb === "peek";
    const first = asked(MODES[verb], verb === "release" ? 0 : cost);
    // What changes a state is followed by a look, as in a Limiter.
    const reply = isAsking ? first : asked(MODE.peek, 1);
    const wanted = isAsking ? cost : 1;
    const decision = decisionOf(reply, [policy], [wanted], 0);
    if (verb === "take" && decision.allowed && cost > 0) this.#lent++;
    return reported(decision);
  }
}

const hex = (n: number) => n.toString(16).padStart(32, "0");
const isEqual = (a: Answer, b: Answer) =>
  a.allowed === b.allowed &&
  a.remaining === b.remaining &&
  a.retryAfterMs === b.retryAfterMs &&
  a.resetAfterMs === b.resetAfterMs;

describe.each(KINDS)("%s", (kind) => {
  test(`${ORIEL_LIMITER_STEPS} random steps have the oracle's answers (seed ${seed})`, { timeout: 600_000 }, () => {
    const random = new Random(seed);
    let nowMs = START_MS;
    let asked = 0;
    let denials = 0;
    while (asked < Number(ORIEL_LIMITER_STEPS)) {
      const [trace, oracle, bare] = [new Trace(kind, random.fork()), new Oracle(kind), new Bare()];
      let history: unknown[] = [];
      for (let i = 0; i < CHUNK || trace.isAsking; i++, asked++) {
        const step = trace.next();
        nowMs += step.waitMs;
        const answer = bare.ask(step, nowMs);
        const right = oracle.step(nowMs, step.verb, step.cost, step.terms);
        if (!isEqual(answer, right))
          expect({ asked, last: history.slice(-8), step, answer }).toEqual({ answer: right });
        history.push([nowMs, step.verb, step.cost, step.terms]);
        if (history.length > 100) history = history.slice(-10);
        if (!answer.allowed) denials++;
        trace.note(step, answer);
      }
    }
    expect(denials).toBeGreaterThan(asked / 20);
    expect(denials).toBeLessThan((asked * 19) / 20);
  });
});

const stores = { memory: onMemory, redis: onRedis };
describe.each(Object.keys(stores) as (keyof typeof stores)[])("through a Limiter, %s", (name) => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await stores[name]();
  });
  afterAll(() => opened?.close());

  test.each(KINDS)(`%s: ${ORIEL_LIMITER_API_STEPS} steps (seed ${seed})`, { timeout: 600_000 }, async (kind) => {
    const random = new Random(seed + 1);
    for (let chunk = 0; chunk < 8; chunk++) {
      await opened.clear();
      const [trace, oracle] = [new Trace(kind, random.fork()), new Oracle(kind)];
      const limiter = new Limiter(opened.store, [trace.usual.policy], { name: "oracle" });
      const permits: string[] = [];
      for (let i = 0; i < Number(ORIEL_LIMITER_API_STEPS) / 8; i++) {
        const step = trace.next();
        const { verb, cost, policy, terms } = step;
        opened.clock.nowMs += step.waitMs;
        const right = oracle.step(opened.clock.nowMs, verb, cost, terms);
        trace.note(step, right);
        const policies = [policy];
        if (verb === "release") {
          await limiter.release("id", permits[cost] ?? hex(cost));
          continue;
        }
        const decision =
          verb === "take"
            ? await limiter.take("id", { cost, policies })
            : verb === "peek"
              ? await limiter.peek("id", { cost, policies })
              : await limiter[verb]("id", cost, { policies });
        expect(reported(decision)).toEqual(right);
        if (verb === "take" && decision.permit && cost > 0) permits.push(decision.permit);
      }
    }
  });
});
