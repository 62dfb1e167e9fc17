import { expect } from "vitest";

interface Failure {
  code: string;
  applied: "no" | "unknown";
  transient: boolean;
}

/** The outcome of each sent number: acknowledged, refused, or unknown. */
export class Ledger {
  readonly acknowledged = new Set<number>();
  readonly kept = new Set<number>();
  readonly refused = new Set<number>();
  readonly failures: Failure[] = [];
  #drawn = 0;

  /** Numbers never drawn before, 1, 2, 3, ... */
  draw(count = 1): number[] {
    return Array.from({ length: count }, () => ++this.#drawn);
  }

  /**
   * Follows a call that sends these numbers. It rejects only with errors that are no failure of a store. Numbers that the
   * process kept ("local") are not acknowledged.
   */
  async follow(values: readonly number[], call: Promise<unknown>): Promise<boolean> {
    try {
      const reported = (await call) as { degradedBy?: string } | undefined;
      if (reported?.degradedBy === "local") {
        for (const value of values) this.kept.add(value);
        return false;
      }
      for (const value of values) this.acknowledged.add(value);
      return true;
    } catch (error) {
      const failure = error as Failure;
      if (!failure.transient) throw error;
      this.failures.push(failure);
      if (failure.applied === "no") for (const value of values) this.refused.add(value);
      return false;
    }
  }

  /**
   * THE invariant at the end of every scenario: what was acknowledged is found once, what was not at most once, what
   * was refused as not applied never; and nothing else. Returns what was acknowledged and is missing, which only a
   * failover may leave (`mayLose`).
   */
  settle(found: ArrayLike<number>, { mayLose = false } = {}): number[] {
    const times = new Map<number, number>();
    for (const value of Array.from(found)) times.set(value, (times.get(value) ?? 0) + 1);
    const values = [...times.keys()];
    const missing = [...this.acknowledged].filter((value) => !times.has(value));
    expect({
      twice: values.filter((value) => times.get(value)! > 1),
      neverHandedIn: values.filter((value) => !(value >= 1 && value <= this.#drawn)),
      refusedAndThere: values.filter((value) => this.refused.has(value)),
      acknowledgedAndMissing: mayLose ? [] : missing,
    }).toEqual({ twice: [], neverHandedIn: [], refusedAndThere: [], acknowledgedAndMissing: [] });
    return missing;
  }
}
