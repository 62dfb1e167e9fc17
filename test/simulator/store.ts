import { OrielError } from "../../src/errors.ts";
import type { Operation, RunOptions, Store } from "../../src/store/contract.ts";
import type { Clock } from "../../src/time.ts";
import { copyOf } from "./copy.ts";
import type { Network } from "./network.ts";
import type { SimProcess } from "./process.ts";
import type { SimServer } from "./server.ts";
import { describe } from "./subject.ts";
import { turn, type World } from "./world.ts";

export const DEADLINE_MS = 3000;

export interface SimStoreOptions {
  world: World;
  server: SimServer;
  network: Network;
  process: SimProcess;
  /** A rule is taken out of some operation, to see whether anything breaks. */
  alter?: (<I, O>(operation: Operation<I, O>) => Operation<I, O>) | undefined;
}

type Reply = { output: unknown } | { error: unknown };

/**
 * The store of one process, as the real one behaves: an attempt without an answer is given up after a third of the
 * deadline and, where the operation may be repeated, made again until the deadline.
 */
export class SimStore implements Store {
  readonly monotonic: Clock;
  /** Calls are answered in the same instant, without any fault: for the questions of the checks. */
  isInstant = false;
  /** Calls that have not been answered. */
  inFlight = 0;
  /** Told to watchers with each step, to know whose it was. */
  origin: unknown;
  readonly #o: SimStoreOptions;

  constructor(options: SimStoreOptions) {
    this.#o = options;
    this.monotonic = options.process.monotonic;
  }

  keyOf(name: string): string {
    return `oriel:{${name}}`;
  }

  async close(): Promise<void> {}

  run<Input, Output>(real: Operation<Input, Output>, key: string, given: Input, options: RunOptions = {}) {
    const operation = this.#o.alter?.(real) ?? real;
    const input = copyOf(given);
    // A turn each, so that a caller who asks for ever is noticed.
    if (this.isInstant) return turn().then(() => this.#o.server.execute(operation, key, input, this.origin));
    this.inFlight++;
    return new Promise<Output>((resolve, reject) => {
      this.#attempts(operation, key, input, options, (reply) => {
        this.inFlight--;
        if ("error" in reply) reject(reply.error);
        else resolve(reply.output as Output);
      });
    });
  }

  #attempts<Input, Output>(
    operation: Operation<Input, Output>,
    key: string,
    input: Input,
    { signal }: RunOptions,
    settle: (reply: Reply) => void,
  ): void {
    const { world, network, process } = this.#o;
    const deadlineMs = world.nowMs + DEADLINE_MS;
    let isOpen = true;
    let applied: "no" | "unknown" = "no";
    let current = 0;
    const end = (reply: Reply) => {
      if (!isOpen) return;
      isOpen = false;
      settle(reply);
    };
    const giveUp = (code: "DEADLINE" | "UNAVAILABLE", why: string) =>
      end({ error: new OrielError(code, `${operation.name}: ${why}`, { transient: true, applied }) });
    const again = (delayMs: number) => world.after(delayMs, attempt, process);

    const attempt = () => {
      if (!isOpen) return;
      if (world.nowMs >= deadlineMs) return giveUp("DEADLINE", "no answer in time");
      const mine = ++current;
      if (network.isRefusing) return again(50);
      applied = "unknown";
      network.request(() => {
        const reply = this.#handle(operation, key, input);
        network.reply(() => {
          if (mine !== current || !isOpen) return;
          if (reply !== "try again") return end(reply);
          current++;
          again(50);
        }, process);
      });
      const attemptMs = Math.min(DEADLINE_MS / 3, deadlineMs - world.nowMs);
      world.after(
        attemptMs,
        () => {
          if (mine !== current || !isOpen) return;
          current++;
          if (operation.repeatable) attempt();
          else giveUp("DEADLINE", "no answer in time");
        },
        process,
      );
    };
    signal?.addEventListener("abort", () => giveUp("DEADLINE", "aborted"));
    if (network.isRefusing && !operation.repeatable) giveUp("UNAVAILABLE", "connection refused");
    attempt();
    world.after(DEADLINE_MS, () => giveUp(applied === "no" ? "UNAVAILABLE" : "DEADLINE", "deadline"), process);
  }

  #handle<Input, Output>(operation: Operation<Input, Output>, key: string, input: Input): Reply | "try again" {
    const { world, server, network } = this.#o;
    if (network.isMigrating && operation.keyCount > 1) return "try again";
    try {
      const output = server.execute(operation, key, copyOf(input), this.origin);
      world.note(() => `${this.#o.process.name} ${operation.name} ${key} ${describe(input, output)}`);
      return { output };
    } catch (error) {
      world.note(() => `${this.#o.process.name} ${operation.name} ${key}: ${(error as Error).message}`);
      return { error };
    }
  }
}
