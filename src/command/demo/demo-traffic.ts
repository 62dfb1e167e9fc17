import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const MAX_AT_ONCE = 64;
const TICK_MS = 10;

/** Sends requests at a steady rate over kept-alive sockets, at most 64 at once, and reports the latency of each. */
export class Traffic {
  readonly #url: string;
  readonly #rate: number;
  readonly #record: (latencyMs: number) => Promise<unknown>;
  readonly #underWay = new Set<Promise<void>>();
  #failure: unknown;
  #sentCount = 0;
  #failedCount = 0;

  constructor(url: string, rate: number, record: (latencyMs: number) => Promise<unknown>) {
    this.#url = url;
    this.#rate = rate;
    this.#record = record;
  }

  get sentCount(): number {
    return this.#sentCount;
  }

  /** Requests that got no answer. */
  get failedCount(): number {
    return this.#failedCount;
  }

  /**
   * Sends until the signal, then waits for the answers under way and for their records. Rejects when a record fails.
   */
  async run(signal: AbortSignal): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: MAX_AT_ONCE });
    const startMs = performance.now();
    try {
      while (!signal.aborted && this.#failure === undefined) {
        const dueCount = Math.floor(((performance.now() - startMs) / 1000) * this.#rate);
        // A late request is sent as soon as a socket is free. The rate is a target, the bound of 64 is strict.
        while (this.#sentCount < dueCount && this.#underWay.size < MAX_AT_ONCE) this.#send(agent);
        await sleep(TICK_MS);
      }
      await Promise.all(this.#underWay);
    } finally {
      agent.destroy();
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  #send(agent: Agent): void {
    this.#sentCount += 1;
    const sending = this.#ask(agent).finally(() => this.#underWay.delete(sending));
    this.#underWay.add(sending);
  }

  async #ask(agent: Agent): Promise<void> {
    const startMs = performance.now();
    try {
      await answer(this.#url, agent);
    } catch {
      this.#failedCount += 1;
      return;
    }
    try {
      await this.#record(performance.now() - startMs);
    } catch (error) {
      this.#failure ??= error;
    }
  }
}

function answer(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, timeout: 5000 }, (response) => {
      response.on("end", resolve).on("error", reject).resume();
    });
    request.on("error", reject).on("timeout", () => request.destroy(new Error("no answer in 5 s")));
  });
}
