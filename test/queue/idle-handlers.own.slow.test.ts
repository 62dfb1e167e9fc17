import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DelayQueue, memoryStore, type QueueWorker } from "../../src/entries/index.ts";
import { seeds } from "../harness/seeds.ts";
import { unreliableStore, type Weather } from "../lock/faults/unreliable-store.ts";
import { Random } from "../simulator/world/random.ts";

const { first, count } = seeds(20);

const LENGTH_MS = 2500;
/** Of many callers that wait for the same message, the late ones wait a little longer for the next one. */
const HERD_MS = 12;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.UTC(2100, 0) }));
afterEach(() => void vi.useRealTimers());

interface Team {
  worker: QueueWorker<unknown>;
  concurrency: number;
  running: number;
  /** For how long it had a handler free while messages were due. */
  idleMs: number;
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** One schedule, over a network that is slow and loses nothing: workers come and go, the queue pauses and goes on. */
class Schedule {
  readonly violations: string[] = [];
  handled = 0;
  readonly #seed: number;
  readonly #random: Random;
  readonly #slowMs: number;
  readonly #server = memoryStore({ clock: Date.now });
  readonly #options: { shards: number; backoff: number; attempts: number };
  readonly #direct: DelayQueue<unknown>;
  readonly #teams: Team[] = [];
  #isPaused = false;
  #isOver = false;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#slowMs = this.#random.pick([0, 1, 5, 30]);
    this.#options = {
      shards: this.#random.pick([1, 2, 5, 12]),
      backoff: this.#random.pick([0, 30]),
      attempts: 100,
    };
    this.#direct = new DelayQueue(this.#server, "mail", this.#options);
  }

  async play(): Promise<void> {
    const random = this.#random;
    this.#work(random.fork());
    const all = [this.#produce(random.fork()), this.#produce(random.fork()), this.#disturb(random.fork())];
    all.push(this.#watch());
    await sleep(LENGTH_MS);
    this.#isOver = true;
    await Promise.all(all);
    await Promise.all(this.#teams.map(({ worker }) => worker.close()));
  }

  #queue(): DelayQueue<unknown> {
    const weather: Weather = {
      ...{ lostRequest: 0, lostReply: 0, repeated: 0, lostNews: 0, silentUntilMs: 0, refusingUntilMs: 0 },
      slowMs: this.#slowMs,
    };
    return new DelayQueue(unreliableStore(this.#server, weather, this.#random.fork()), "mail", this.#options);
  }

  #work(random: Random): void {
    const concurrency = random.pick([1, 1, 3, 20]);
    const longestMs = random.pick([0, 3, 40, 900]);
    const handler = async () => {
      team.running++;
      team.idleMs = 0;
      if (longestMs > 0) await sleep(random.int(0, longestMs));
      team.running--;
      if (random.chance(0.1)) throw new Error("no luck");
      this.handled++;
    };
    const settings = { concurrency, prefetch: random.pick([0, 0, 2, 10]), visibility: 2000 };
    const team: Team = { concurrency, running: 0, idleMs: 0, worker: this.#queue().process(handler, settings) };
    this.#teams.push(team);
  }

  async #produce(random: Random): Promise<void> {
    const queue = this.#queue();
    while (!this.#isOver) {
      await sleep(random.pick([0, 1, 10, 200, 900]));
      const delays = [0, 0, random.int(0, 300), 2000];
      const message = () => ({ payload: 0, delay: random.pick(delays), priority: random.pick([0, 7]) });
      await queue.addBulk(Array.from({ length: random.pick([1, 1, 2, 30]) }, message));
    }
  }

  async #disturb(random: Random): Promise<void> {
    while (!this.#isOver) {
      await sleep(random.int(50, 700));
      const what = random.pick(["pause", "close", "open"]);
      if (what === "open" && this.#teams.length < 4) this.#work(random.fork());
      if (what === "close" && this.#teams.length > 1) {
        const [team] = this.#teams.splice(random.int(0, this.#teams.length - 1), 1);
        void team!.worker.close();
      }
      if (what === "pause") {
        this.#isPaused = true;
        await this.#direct.pause();
        await sleep(random.int(0, 400));
        await this.#direct.resume();
        this.#isPaused = false;
      }
    }
  }

  async #watch(): Promise<void> {
    // With room for one message shards are asked one after the other.
    const maxIdleMs = HERD_MS + (this.#options.shards + 2) * (1 + 2 * this.#slowMs);
    const startMs = Date.now();
    while (!this.#isOver) {
      await sleep(1);
      const { due } = await this.#direct.counts();
      for (const team of this.#teams) {
        const { running, concurrency } = team;
        team.idleMs = due > 0 && !this.#isPaused && running < concurrency ? team.idleMs + 1 : 0;
        if (team.idleMs === maxIdleMs)
          this.violations.push(
            `seed ${this.#seed}, at ${Date.now() - startMs} ms: ${due} are due, and ${running} of ${concurrency} run`,
          );
      }
    }
  }
}

test(`${count} schedules: no handler is free for long while messages are due`, {
  timeout: 300_000 + count * 3000,
}, async () => {
  const violations: string[] = [];
  let handled = 0;
  for (let seed = first; seed < first + count; seed++) {
    const schedule = new Schedule(seed);
    let isOver = false;
    const playing = schedule.play().then(() => {
      isOver = true;
    });
    while (!isOver) await Promise.race([playing, vi.advanceTimersByTimeAsync(20)]);
    violations.push(...schedule.violations);
    handled += schedule.handled;
    vi.clearAllTimers();
  }
  expect(violations).toEqual([]);
  expect(handled).toBeGreaterThan(count * 30);
});
