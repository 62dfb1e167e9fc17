import type { Store } from "../../store/contract.ts";
import { tap } from "../../store/registry/live.ts";
import { openingsKey } from "./names.ts";
import { lines } from "./steps/lines.ts";

/** Openings that wait for the store. Above this number, the oldest is dropped. */
const MAX_PENDING = 100;

/** The members of `Breaker` that a history uses. */
export interface RecordedBreaker {
  readonly name: string;
  readonly [tap]: (listener: (opening: object) => void) => void;
}

/** The openings of one circuit that this process has seen. The list has each one once, however many processes saw it. */
export class BreakerHistory {
  readonly #store: Store;
  readonly #key: string;
  #pending: string[] = [];

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#key = openingsKey(store, name);
  }

  attach(breaker: RecordedBreaker, isOver: () => boolean): void {
    breaker[tap]((opening) => {
      if (isOver()) return;
      this.#pending.push(JSON.stringify(opening));
      if (this.#pending.length > MAX_PENDING) this.#pending.shift();
      void this.flush();
    });
  }

  /** Adds what the list may lack. A repeated line is not added again. Never rejects. */
  async flush(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    await Promise.all(
      pending.map((line) =>
        this.#store.run(lines, this.#key, { line, isWanted: false }).catch(() => {
          this.#pending.push(line);
        }),
      ),
    );
  }
}
