import type { Clock } from "../../../src/base/time.ts";
import { Breaker, type BreakerEvents, type BreakerOptions } from "../../../src/entries/index.ts";
import { staged as stagedOn } from "../../harness/clock/staged.ts";
import { type OpenStore, START_MS } from "../../harness/clock/stepped-stores.ts";

export type Opened = Pick<OpenStore, "clock" | "clear" | "close" | "modes"> & { store: OpenStore["store"] | "local" };

/** Without a store, on a clock that tests step. */
export async function onNothing(): Promise<Opened> {
  return { store: "local", clock: { nowMs: START_MS }, clear: async () => {}, close: async () => {} };
}

export interface CallOptions {
  isBad?: boolean;
  tookMs?: number;
}

/** Breakers on one stepped clock. */
export class Stage {
  readonly opened: Opened;
  #test = 0;

  constructor(opened: Opened) {
    this.opened = opened;
  }

  get nowMs(): number {
    return this.opened.clock.nowMs;
  }

  readonly monotonic: Clock = () => this.opened.clock.nowMs;

  /** One process's; default: opens with more than half of 10 calls failed within 10 s. */
  breaker(options: Partial<BreakerOptions> = {}): Breaker {
    const rules = ["failures", "slowRatio", "failureRatio"] as const;
    const ratio = rules.some((rule) => rule in options) ? {} : { failureRatio: 0.5 };
    const { monotonic } = this;
    return new Breaker(this.opened.store, {
      name: `payments ${this.#test}`,
      span: "10s",
      cooldown: "5s",
      monotonic,
      ...this.opened.modes,
      ...ratio,
      ...options,
    } as BreakerOptions);
  }

  /** After a test: what is still under way is of another name than the next one's. */
  async clear(): Promise<void> {
    this.#test++;
    await this.opened.clear();
  }

  pass(ms: number): void {
    this.opened.clock.nowMs += ms;
  }

  /** One call from begin to end, with its report: "good", "bad" or "OPEN". */
  async call(breaker: Breaker, { isBad = false, tookMs = 0 }: CallOptions = {}): Promise<string> {
    const ended = await breaker.run(() => this.#work(isBad, tookMs)).catch(({ code, message }) => code ?? message);
    await breaker.flush();
    return ended;
  }

  async calls(breaker: Breaker, count: number, options: CallOptions = {}): Promise<string[]> {
    const ended: string[] = [];
    for (let i = 0; i < count; i++) ended.push(await this.call(breaker, options));
    return ended;
  }

  #work(isBad: boolean, tookMs: number): string {
    this.pass(tookMs);
    if (isBad) throw new Error("bad");
    return "good";
  }
}

/** A call that ends on demand. */
export class Held {
  readonly ended: Promise<string>;
  hasBegun = false;
  #resolve: (value: string) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(breaker: Breaker, signal?: AbortSignal) {
    const work = new Promise<string>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const run = () => {
      this.hasBegun = true;
      return work;
    };
    this.ended = breaker.run(run, { signal }).catch(({ code, message }) => code ?? message);
  }

  end(): Promise<string> {
    this.#resolve("good");
    return this.ended;
  }

  fail(error = new Error("bad")): Promise<string> {
    this.#reject(error);
    return this.ended;
  }
}

/** Collects the events of a breaker from now on, by name. */
export function toldBy(breaker: Breaker): string[] {
  const reported: string[] = [];
  const names: (keyof BreakerEvents)[] = ["open", "halfOpen", "close", "reject", "error"];
  for (const name of names) breaker.on(name, () => void reported.push(name));
  return reported;
}

export const staged = (open: () => Promise<Opened>) => stagedOn(async () => new Stage(await open()));
