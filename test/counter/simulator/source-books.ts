import type { Random } from "../../simulator/world/random.ts";
import type { Books, Event, Sent } from "./books.ts";

/** A source that can be replayed: what it has, and up to where it was acknowledged. */
export class SourceBooks {
  readonly events: (Event & { sent: Sent })[] = [];
  reached = 0;
  readonly #books: Books;
  readonly #random: Random;

  constructor(books: Books, random: Random) {
    this.#books = books;
    this.#random = random;
  }

  /** Events up to `offset` are there. */
  extend(offset: number, nowMs: number): void {
    while (this.events.length < offset) {
      const i = this.events.length;
      const id = this.#random.chance(0.2) ? `t${i % 5}` : `s${i}`;
      const event = { values: { site: "S", id }, at: nowMs, count: this.#random.int(1, 3) };
      this.events.push({ ...event, sent: this.#books.open(event) });
    }
  }

  acknowledge(from: number, to: number, nowMs: number): void {
    this.reached = Math.max(this.reached, to);
    for (const { sent } of this.events.slice(from, to)) this.#books.acknowledge(sent, nowMs);
  }

  /** A process without replicas that continues a source of another process may miss events that a failover lost. */
  excuse(): void {
    for (const { sent } of this.events) sent.mayBeLost = true;
  }
}
