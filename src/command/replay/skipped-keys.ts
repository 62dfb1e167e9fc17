import { quoted } from "../formats/outcome.ts";
import { oneLine } from "../text/safe-text.ts";

const MAX_SHOWN = 5;

/** Keys whose series failed, such as one with foreign bytes, and the number of their events that were not recorded. */
export class SkippedKeys {
  readonly #reasons = new Map<string, string>();
  #eventCount = 0;

  addKey(key: string, reason: string): void {
    this.#reasons.set(key, reason);
  }

  add(eventCount: number): void {
    this.#eventCount += eventCount;
  }

  get count(): number {
    return this.#reasons.size;
  }

  /** One line for each of the first keys, then the number of others. Empty without any. */
  text(): string {
    const lines = [...this.#reasons]
      .slice(0, MAX_SHOWN)
      .map(([key, reason]) => `oriel: the key ${quoted(key)} is skipped: ${oneLine(reason)}\n`);
    const more = this.count - lines.length;
    return lines.join("") + (more > 0 ? `oriel: and ${more} more ${more === 1 ? "key" : "keys"}\n` : "");
  }

  /** For the summary. Empty without any. */
  summary(): string[] {
    if (this.count === 0) return [];
    const [events, keys] = [this.#eventCount === 1 ? "event" : "events", this.count === 1 ? "key" : "keys"];
    return [`${this.#eventCount} ${events} of ${this.count} skipped ${keys}`];
  }
}
