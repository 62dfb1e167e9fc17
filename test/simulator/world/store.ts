import { OrielError } from "../../../src/base/errors.ts";
import type { Clock } from "../../../src/base/time.ts";
import type { Operation, RunOptions, Store } from "../../../src/store/contract.ts";
import { describe } from "../subject.ts";
import { copyOf } from "./copy.ts";
import type { Network } from "./network.ts";
import type { SimProcess } from "./process.ts";
import type { SimServer } from "./server.ts";
import { turn, type World } from "./world.ts";

const DEADLINE_MS = 3000;

export interface SimStoreOptions {
  world: World;
  server: Pick<SimServer, "execute">;
  network: Network;
  process: SimProcess;
  /** Grows with each failover. Calls with `replicas` wait for it. */
  replication?: { failoverCount: number; replicate(): void } | undefined;
  /** Faults at the moments that matter. */
  troubles?: { sent(process: SimProcess): void; unanswered(): void } | undefined;
  /** A rule is taken out of some operation, to see whether anything breaks. */
  alter?: (<I, O>(operation: Operation<I, O>) => Operation<I, O>) | undefined;
}

type Reply = { output: unknown } | { error: unknown };

/** One `run` on its way. */
interface Sent {
  operation: Operation<unknown, unknown>;
  key: string;
  input: unknown;
  ranIn: RunOptions["ranIn"];
  ranOnce: RunOptions["ranOnce"];
  settle(reply: Reply): void;
}

/**
 * The store of one process, as the real one behaves: an attempt without an answer is given up after a third of the
 * deadline and, where the operation may be repeated, made again until the deadline.
 */
export class SimStore implements Store {
  readonly monotonic: Clock;
  readonly leaseClock: Clock;
  /** Calls are answered in the same instant, without any fault: for the questions of the checks. */
  isInstant = false;
  /** Calls that have not been answered. */
  inFlight = 0;
  /** Passed to watchers with each step, to name its process. */
  origin: unknown;
  /** Takes what no call rejects with. */
  report?: Store["report"];
  readonly #o: SimStoreOptions;
  readonly #gathered: Sent[] = [];

  constructor(options: SimStoreOptions) {
    this.#o = options;
    this.monotonic = options.process.monotonic;
    this.leaseClock = this.monotonic;
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
      const { process } = this.#o;
      const settle = (reply: Reply) => {
        this.inFlight--;
        if ("error" in reply) reject(reply.error);
        else resolve(reply.output as Output);
      };
      const { ranIn, ranOnce } = options;
      const sent = { operation: operation as Operation<unknown, unknown>, key, input, ranIn, ranOnce, settle };
      const send = () => {
        if (options.ranIn) this.#gather(sent);
        else this.#attempts([sent], this.monotonic() + DEADLINE_MS, options.signal, options.replicas);
      };
      // A timer of the code under test belongs to no process of this world: what it starts waits here.
      if (process.state === "running") send();
      else process.hold(send);
    });
  }

  /** Calls of one turn that ask whether they ran at one instant travel as one request. */
  #gather(sent: Sent): void {
    this.#gathered.push(sent);
    if (this.#gathered.length > 1) return;
    queueMicrotask(() => this.#attempts(this.#gathered.splice(0), this.monotonic() + DEADLINE_MS));
  }

  #attempts(all: readonly Sent[], deadlineMs: number, signal?: AbortSignal, replicas = 0): void {
    const { network, process, replication, troubles } = this.#o;
    const { operation } = all[0]!;
    let isOpen = true;
    let applied: "no" | "unknown" = "no";
    let current = 0;
    let unanswered = 0;
    const end = (settle: () => void) => {
      if (!isOpen) return;
      isOpen = false;
      signal?.removeEventListener("abort", abort);
      settle();
    };
    const abort = () =>
      end(() => {
        for (const { settle } of all) settle({ error: signal?.reason });
      });
    const giveUp = (code: "DEADLINE" | "UNAVAILABLE", why: string) =>
      end(() => {
        for (const { settle } of all)
          settle({ error: new OrielError(code, `${operation.name}: ${why}`, { transient: true, applied }) });
      });
    const again = (delayMs: number) => process.after(delayMs, attempt);

    const attempt = () => {
      if (!isOpen) return;
      if (this.monotonic() >= deadlineMs) return giveUp("DEADLINE", "no answer in time");
      const mine = ++current;
      if (network.isRefusing) return again(50);
      applied = "unknown";
      troubles?.sent(process);
      const isDoubled = network.request(() => {
        const replies = this.#handleAll(all);
        const failoverCount = replication?.failoverCount;
        network.reply(() => {
          if (mine !== current || !isOpen) return;
          // Whom replicas are to confirm has its answer only from the server that ran it.
          if (replicas > 0 && replication?.failoverCount !== failoverCount) return;
          if (replicas > 0) replication?.replicate();
          if (replies === "try again") {
            current++;
            if (all.length === 1) return again(50);
            return end(() => {
              for (const one of all) this.#attempts([one], deadlineMs);
            });
          }
          end(() => {
            for (const [i, { ranIn, ranOnce, settle }] of all.entries()) {
              ranIn?.(replies);
              if (unanswered === 0 && !isDoubled) ranOnce?.();
              settle(unanswered > 0 ? inDoubt(replies[i]!) : replies[i]!);
            }
          });
        }, process.wire);
      });
      process.after(Math.min(DEADLINE_MS / 3, deadlineMs - this.monotonic()), () => {
        if (mine !== current || !isOpen) return;
        current++;
        unanswered++;
        troubles?.unanswered();
        if (operation.repeatable) attempt();
        else giveUp("DEADLINE", "no answer in time");
      });
    };
    signal?.addEventListener("abort", abort);
    if (network.isRefusing && !operation.repeatable) giveUp("UNAVAILABLE", "connection refused");
    attempt();
    const leftMs = deadlineMs - this.monotonic();
    process.after(leftMs, () => giveUp(applied === "no" ? "UNAVAILABLE" : "DEADLINE", "deadline"));
  }

  /** All at one instant, or none. */
  #handleAll(all: readonly Sent[]): Reply[] | "try again" {
    const keyCount = all.reduce((sum, { operation }) => sum + operation.keyCount, 0);
    if (this.#o.network.isMigrating && keyCount > 1) return "try again";
    return all.map((sent) => this.#handle(sent));
  }

  #handle({ operation, key, input }: Sent): Reply {
    const { world, server } = this.#o;
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

/** A step that refused may have been run by an attempt before, whose answer is missing. */
function inDoubt(reply: Reply): Reply {
  if (!("error" in reply) || !(reply.error instanceof OrielError)) return reply;
  const { code, message, transient } = reply.error;
  return { error: new OrielError(code, message, { transient, applied: "unknown" }) };
}
