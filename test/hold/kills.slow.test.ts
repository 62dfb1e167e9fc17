import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TRIAL_MS } from "../../src/generated/layouts/hold.ts";
import type { State } from "../../src/holds/steps/state.ts";
import { take } from "../../src/holds/steps/steps.ts";
import { builtProgram } from "../harness/built-program.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { StepLaws } from "../simulator/holds/step-laws.ts";
import { Random } from "../simulator/world/random.ts";
import { type LoggedStep, loggedScripts, parseStep } from "./logged-steps.ts";

const PROCESSES = 4;
const CALLERS = 50;
const LIMIT = 10;
/** As of kills-child.ts. */
const LEASE_MS = 1500;
const { ORIEL_ROUNDS = "9", ORIEL_SEED } = process.env;
const seed = Number(ORIEL_SEED ?? Date.now() % 1_000_000);

let server: RedisServer;
let raw: Redis;
const children = new Map<number, ChildProcess>();
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  raw = new Redis(server.url);
  await raw.set("scripts", JSON.stringify(loggedScripts()));
});
afterAll(async () => {
  for (const child of children.values()) child.kill("SIGKILL");
  raw?.disconnect();
  await server?.stop();
});

let started = 0;
async function start(): Promise<void> {
  const number = ++started;
  const args = [server.url, number, CALLERS, LIMIT].map(String);
  const child = fork(builtProgram(new URL("./kills-child.ts", import.meta.url)), args);
  children.set(number, child);
  await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error(`process ${number} has ended`)));
  });
}

async function kill(number: number): Promise<void> {
  const child = children.get(number)!;
  children.delete(number);
  child.removeAllListeners("exit");
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

async function nowMs(): Promise<number> {
  const [seconds, us] = await raw.time();
  return Number(seconds) * 1000 + Number(us) / 1000;
}

/** A hold from its grant to its end, by the server's clock. */
interface Turn {
  readonly arrivedMs: number;
  readonly servedMs: number;
  endMs: number;
  /** Trials that were missed while it waited. */
  readonly missedTrials: number;
}

/** A time in which a process that is dead or stopped may hold up others. */
interface Trouble {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Judges each step, and finds when each waiter came, was served, and ended. */
class Judge {
  readonly violations: string[] = [];
  readonly laws: StepLaws;
  readonly arrivals = new Map<string, { arrivedMs: number; missedTrials: number }>();
  readonly turns = new Map<string, Turn>();
  readonly senderOf = new Map<string, number>();
  steps = 0;
  #state!: State;

  constructor() {
    this.laws = new StepLaws({
      nowMs: 0,
      stateOf: () => this.#state,
      violation: (text) => this.violations.push(`step ${this.steps}: ${text}`),
    });
  }

  add(step: LoggedStep): void {
    this.steps++;
    this.#state = step.state;
    const { input, operation, sender, key, nowMs } = step;
    if (operation === take.name)
      for (const { token } of input.tickets) {
        this.senderOf.set(token, sender);
        if (input.mayWait && !this.arrivals.has(token))
          this.arrivals.set(token, { arrivedMs: nowMs, missedTrials: this.laws.missedTrials });
      }
    const book = this.laws.bookOf(key);
    const before = [...book.leases].map(([token, { untilMs }]) => [token, untilMs] as const);
    this.laws.onStep({ ...step, isFirst: false });
    for (const [token, { isTrial, number }] of book.leases) {
      if (isTrial || this.turns.has(token)) continue;
      const { arrivedMs, missedTrials } = this.arrivals.get(token)!;
      const servedMs = Math.floor(number / 1000);
      this.turns.set(token, {
        arrivedMs,
        servedMs,
        endMs: Number.NaN,
        missedTrials: this.laws.missedTrials - missedTrials,
      });
    }
    for (const [token, untilMs] of before) {
      const turn = this.turns.get(token);
      if (turn && !book.leases.has(token)) turn.endMs = Math.min(nowMs, untilMs);
    }
  }
}

/** The longest wait if the same holds were served in the order of arrival, without any time between them. */
function longestInOrder(turns: readonly Turn[], limit: number): number {
  const freeMs = new Array<number>(limit).fill(0);
  let longestMs = 0;
  for (const { arrivedMs, servedMs, endMs } of [...turns].sort((a, b) => a.arrivedMs - b.arrivedMs)) {
    const first = freeMs.indexOf(Math.min(...freeMs));
    const startMs = Math.max(arrivedMs, freeMs[first]!);
    freeMs[first] = startMs + endMs - servedMs;
    longestMs = Math.max(longestMs, startMs - arrivedMs);
  }
  return longestMs;
}

test(`${PROCESSES} processes with ${PROCESSES * CALLERS} waiters, of which one is killed, stopped or cut off each second (seed ${seed})`, async () => {
  const random = new Random(seed);
  await Promise.all(Array.from({ length: PROCESSES }, start));
  const killed = new Set<number>();
  const troubles: Trouble[] = [];
  for (let round = 0; round < Number(ORIEL_ROUNDS); round++) {
    await pause(1000);
    const victim = random.pick([...children.keys()]);
    if (round % 3 === 0) {
      const fromMs = await nowMs();
      await kill(victim);
      killed.add(victim);
      // Its leases have begun before.
      troubles.push({ fromMs, toMs: (await nowMs()) + LEASE_MS });
      await start();
    } else if (round % 3 === 1) {
      const fromMs = await nowMs();
      children.get(victim)!.kill("SIGSTOP");
      await pause(random.pick([300, 1000, 2000]));
      children.get(victim)!.kill("SIGCONT");
      troubles.push({ fromMs, toMs: await nowMs() });
    } else await raw.call("CLIENT", "KILL", "TYPE", "pubsub");
  }
  const served = [...children.values()].map((child) => {
    child.removeAllListeners("exit");
    return new Promise<number>((resolve, reject) => {
      child.once("message", (message) => resolve(Number(message)));
      child.once("exit", () => reject(new Error("a process has ended before its waiters were served")));
      child.send("end");
    });
  });
  for (const each of await Promise.all(served)) expect(each).toBeGreaterThanOrEqual(2 * CALLERS);

  const log = await raw.lrangeBuffer("log", 0, -1);
  for (const [key, limit] of [
    ["oriel:{nightly}:lock", 1],
    ["oriel:{exports}:semaphore", LIMIT],
  ] as const) {
    const judge = new Judge();
    for (const each of log) {
      const step = parseStep(each);
      if (step.key === key) judge.add(step);
    }
    expect(judge.violations).toEqual([]);
    expect(judge.turns.size).toBeGreaterThan(PROCESSES * CALLERS);
    const turns = [...judge.turns.values()];
    const waiting = [...judge.arrivals.keys()].filter((token) => !judge.turns.has(token));
    // Those that are not served belong to a process that was killed. Each other one waits at most twice as long as in order, besides
    // the times in which a process that is dead or stopped may hold up others.
    expect(waiting.filter((token) => !killed.has(judge.senderOf.get(token)!))).toEqual([]);
    const inOrderMs = longestInOrder(turns, limit);
    const waitOf = ({ arrivedMs, servedMs }: Turn) => servedMs - arrivedMs;
    const heldUpOf = ({ arrivedMs, servedMs, missedTrials }: Turn) =>
      troubles.reduce(
        (sum, { fromMs, toMs }) => sum + Math.max(0, Math.min(servedMs, toMs) - Math.max(arrivedMs, fromMs)),
        missedTrials * TRIAL_MS,
      );
    const longestMs = Math.max(...turns.map(waitOf));
    // After a missed trial all others ask anew, so each may put a waiter behind all others once.
    const timesOf = ({ missedTrials }: Turn) => 1 + Math.max(1, missedTrials);
    const times = turns.map((turn) => (waitOf(turn) - heldUpOf(turn)) / (timesOf(turn) * inOrderMs));
    console.log(
      `${key}: seed ${seed}, ${turns.length} holds, ${judge.laws.missedTrials} missed trials, the longest wait ${longestMs} ms, ` +
        `in order ${inOrderMs} ms, the largest part of the bound ${Math.max(...times).toFixed(2)}`,
    );
    expect(Math.max(...times)).toBeLessThanOrEqual(1);
  }
});
