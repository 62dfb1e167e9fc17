import { type Decision, fixedWindow, Limiter, memoryStore } from "../../src/entries/index.ts";
import type { CountingTaker } from "../../src/http/taker.ts";

export interface WindowPolicy {
  name: string;
  limit: number;
  spanMs: number;
}

/** A limiter of fixed windows, each from the id's first call on. It logs its calls, and may fail on demand. */
export class FixedWindowTaker implements CountingTaker {
  readonly taken: string[] = [];
  readonly released: string[] = [];
  /** Lent with every allowed call, as a concurrency policy does. */
  permit: string | undefined;
  /** Every call answers after it. */
  held: Promise<void> | undefined;
  /** Thrown by every call. */
  failure: Error | undefined;
  private readonly limiter: Limiter;

  constructor(policies: WindowPolicy[], clock: () => number = () => 0) {
    const windows = policies.map(({ name, limit, spanMs }) => fixedWindow({ name, limit, span: spanMs }));
    this.limiter = new Limiter(memoryStore({ clock }), windows, { name: "http" });
  }

  async take(id: string, { cost = 1 }: { cost?: number } = {}): Promise<Decision> {
    if (this.failure) throw this.failure;
    this.taken.push(id);
    await this.held;
    const decision = await this.limiter.take(id, { cost });
    return this.permit === undefined || !decision.allowed ? decision : { ...decision, permit: this.permit };
  }

  async release(id: string, permit: string): Promise<void> {
    this.released.push(`${id} ${permit}`);
    throw new Error("a release that fails must trouble nobody");
  }

  peek(id: string): Promise<Decision> {
    return this.limiter.peek(id);
  }

  reward(id: string, permits: number): Promise<Decision> {
    return this.limiter.reward(id, permits);
  }

  reset(id: string): Promise<void> {
    return this.limiter.reset(id);
  }
}
