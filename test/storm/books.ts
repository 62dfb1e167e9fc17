import { OrielError } from "../../src/entries/index.ts";

/** The outcome of each sent item, by the answer of its call, and violations of what no call may do. */
export class Books<Key = number> {
  readonly acknowledged = new Set<Key>();
  /** Acknowledged by a process that keeps them. It may give them up if it reports that. */
  readonly kept = new Set<Key>();
  readonly refused = new Set<Key>();
  readonly unknown = new Set<Key>();
  readonly violations: string[] = [];
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  wrong(text: string): void {
    if (this.violations.length < 5) this.violations.push(`${this.#name}: ${text}`);
  }

  /** Never rejects. Resolves to undefined where the call rejected. Any error except an OrielError is a violation. */
  async call<Answer>(key: Key, calling: Promise<Answer>): Promise<Answer | undefined> {
    try {
      const answer = await calling;
      this.acknowledged.add(key);
      if ((answer as { degradedBy?: string } | undefined)?.degradedBy === "local") this.kept.add(key);
      return answer;
    } catch (error) {
      if (!(error instanceof OrielError)) this.wrong(`rejected with ${(error as Error)?.stack ?? error}`);
      else {
        (error.applied === "no" ? this.refused : this.unknown).add(key);
        if (error.code === "CORRUPT" || error.code === "ARGUMENT") this.wrong(`${error.code} ${error.message}`);
        if (/Function not found|NOSCRIPT/.test(error.message)) this.wrong(error.message);
      }
      return undefined;
    }
  }

  missing(found: Iterable<Key>): Key[] {
    const there = new Set(found);
    return [...this.acknowledged].filter((key) => !there.has(key));
  }

  /**
   * Each item is found at most once. No refused item is there. Every acknowledged one is, except those kept ones that were
   * reported as given up. The others may be there or not.
   */
  settle(found: readonly Key[], givenUp = 0): void {
    const times = new Map<Key, number>();
    for (const key of found) times.set(key, (times.get(key) ?? 0) + 1);
    for (const [key, count] of times) {
      if (count > 1) this.wrong(`${key} counts ${count} times`);
      if (this.refused.has(key)) this.wrong(`${key} was refused, and is there`);
    }
    const missing = this.missing(found);
    const isExcused = missing.filter((key) => this.kept.has(key)).length <= givenUp;
    for (const key of missing)
      if (!isExcused || !this.kept.has(key))
        this.wrong(`${key} was acknowledged, and is missing; ${givenUp} are reported`);
  }

  /** The same check where only the number of items is known. */
  settleCount(count: number): void {
    const [least, most] = [this.acknowledged.size, this.acknowledged.size + this.unknown.size];
    if (count < least || count > most) this.wrong(`counts ${count}; from ${least} to ${most} can be`);
  }
}

/** Of a store that never answers again. On a slow machine the probes are seconds apart, and a call may miss its deadline often. */
const LONGEST_RETURN_MS = 240_000;

/** Repeats a query while the store recovers. */
export async function answered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const endMs = performance.now() + LONGEST_RETURN_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > endMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
