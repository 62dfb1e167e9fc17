import { TRIAL_MS } from "../../../src/generated/layouts/hold.ts";
import { type Answer, processOf, type State, type Ticket } from "../../../src/holds/steps/state.ts";
import { forget, leave, look, renew, take } from "../../../src/holds/steps/steps.ts";

/** A hold by the server's clock. */
interface Lease {
  readonly number: number;
  readonly permits: number;
  untilMs: number;
  /** Until its process has asked for it. */
  isTrial: boolean;
}

/** One step that a server has run. */
export interface RanStep {
  readonly operation: string;
  readonly key: string;
  readonly input: unknown;
  readonly output?: unknown;
  readonly nowMs: number;
  /** The name had no state before, and has one now. */
  readonly isFirst: boolean;
}

/** A server that is looked at. */
export interface Observed {
  /** By the clock of the test. */
  readonly nowMs: number;
  /** The state of a name just after the step. */
  stateOf(key: string): State;
  violation(text: string): void;
}

/** The state of one name by the definition of a hold, kept beside the code under test. */
export interface NameBook {
  readonly leases: Map<string, Lease>;
  /** In order of arrival. */
  waiting: Ticket[];
  /** The highest number of a hold. */
  highest: number;
  /** The highest fence that a caller has got. */
  acquired: number;
  /** When a trial was last missed, which takes places away. */
  missedMs: number;
  /** The last hold ended by a release, not with its lease. */
  isReleased: boolean;
}

/**
 * The laws of each step on holds. Never more permits have a running lease or a running trial than the limit. A number is higher
 * than all before it. The first that waits is served. The order is that in which requests came to the server. It is lost only for
 * the waiters of other processes when a trial was missed. Nobody is refused, and nobody waits, who could be served. A release and
 * a renewal are true if, and only if, the hold was there. A state is deleted only while nobody holds the name or waits.
 */
export class StepLaws {
  readonly names = new Map<string, NameBook>();
  missedTrials = 0;
  readonly #observed: Observed;

  constructor(observed: Observed) {
    this.#observed = observed;
  }

  bookOf(key: string): NameBook {
    let book = this.names.get(key);
    if (!book) {
      book = { leases: new Map(), waiting: [], highest: 0, acquired: 0, missedMs: 0, isReleased: true };
      this.names.set(key, book);
    }
    return book;
  }

  onStep(step: RanStep): void {
    const { operation, key, nowMs } = step;
    const book = this.bookOf(key);
    const output = step.output as Answer;
    if (operation === renew.name) {
      const { token, leaseMs } = step.input as { token: string; leaseMs: number };
      const lease = book.leases.get(token);
      const isRunning = lease !== undefined && lease.untilMs >= nowMs;
      if (step.output !== isRunning)
        this.#violation(key, `a renewal is ${step.output}, and the hold ${isRunning ? "runs" : "has ended"}`);
      if (lease && isRunning)
        Object.assign(lease, { untilMs: Math.max(lease.untilMs, nowMs + leaseMs), isTrial: false });
    } else if (operation === leave.name) {
      const { process, token, number } = step.input as { process: string; token: string; number?: number };
      // After a loss of the state it keeps the number of the caller's hold.
      if (number !== undefined && step.isFirst) book.highest = Math.max(book.highest, number);
      const isReleased = book.leases.delete(token);
      if (output.isReleased !== isReleased)
        this.#violation(key, `a release is ${output.isReleased}, and the hold was ${isReleased ? "" : "not "}there`);
      book.isReleased = isReleased;
      book.waiting = book.waiting.filter((each) => each.token !== token);
      this.#serve(key, book, process, [], nowMs, output, true);
    } else if (operation === take.name) {
      const { process, tickets, mayWait } = step.input as { process: string; tickets: Ticket[]; mayWait: boolean };
      this.#serve(key, book, process, tickets, nowMs, output, mayWait);
    } else if (operation === forget.name && step.output === true) {
      if (book.leases.size > 0 || book.waiting.length > 0) this.#violation(key, "a state that is in use is deleted");
      book.highest = 0;
    } else if (operation === look.name) {
      // A caller that looks after a missed trial finds the name free, before any step has taken the places away.
      for (const { isTrial, untilMs } of book.leases.values())
        if (isTrial && untilMs < nowMs) book.missedMs = this.#observed.nowMs;
    }
  }

  /** The step must have served the waiters that the definition names. */
  #serve(
    key: string,
    book: NameBook,
    process: string,
    tickets: readonly Ticket[],
    nowMs: number,
    { granted }: Answer,
    mayWait: boolean,
  ): void {
    this.#sweep(book, process, nowMs);
    const state = this.#observed.stateOf(key);
    const asked = new Map(tickets.map((ticket) => [ticket.token, ticket]));
    for (const hold of state.holds) {
      if (book.leases.has(hold.token)) continue;
      const place = book.waiting.findIndex(({ token }) => token === hold.token);
      const ticket = book.waiting[place] ?? asked.get(hold.token);
      if (!ticket) this.#violation(key, `${hold.token} is served, and does not wait`);
      if (place > 0) this.#violation(key, `${place} earlier ones wait, and ${hold.token} is served`);
      if (place < 0 && book.waiting.length > 0)
        this.#violation(key, `${hold.token} has just come, and is served before others`);
      book.waiting = book.waiting.filter(({ token }) => token !== hold.token);
      if (hold.number <= book.highest) this.#violation(key, `the number ${hold.number} comes after ${book.highest}`);
      book.highest = Math.max(book.highest, hold.number);
      if (!ticket) continue;
      if (!fits(book, ticket))
        this.#violation(
          key,
          `${usedOf(book)} of ${ticket.limit} permits are in use, and ${ticket.permits} more are granted`,
        );
      const isTrial = processOf(hold.token) !== process;
      book.leases.set(hold.token, {
        number: hold.number,
        permits: ticket.permits,
        untilMs: nowMs + (isTrial ? TRIAL_MS : ticket.leaseMs),
        isTrial,
      });
    }
    for (const { token, number } of granted) {
      const lease = book.leases.get(token);
      if (!lease) this.#violation(key, `${token} gets a hold that is not there`);
      else if (lease.number !== number)
        this.#violation(key, `${token} gets the hold ${number}, and has ${lease.number}`);
    }
    for (const ticket of tickets) {
      const lease = book.leases.get(ticket.token);
      if (lease) Object.assign(lease, { untilMs: Math.max(lease.untilMs, nowMs + ticket.leaseMs), isTrial: false });
      else if (mayWait) {
        if (!book.waiting.some(({ token }) => token === ticket.token)) book.waiting.push(ticket);
      } else if (book.waiting.length === 0 && fits(book, ticket))
        this.#violation(key, `${ticket.token} is refused, and could be served`);
      if (lease && !granted.some(({ token }) => token === ticket.token))
        this.#violation(key, `${ticket.token} does not get its hold`);
    }
    const [first] = book.waiting;
    if (first && fits(book, first)) this.#violation(key, `${first.token} is next, and is not served`);
  }

  /** Removes what has ended. After a missed trial the waiters of other processes lose their places. */
  #sweep(book: NameBook, process: string, nowMs: number): void {
    let isMissed = false;
    for (const [token, { untilMs, isTrial }] of book.leases) {
      if (untilMs >= nowMs && !(isTrial && untilMs > nowMs + TRIAL_MS)) continue;
      book.leases.delete(token);
      isMissed ||= isTrial;
      if (!isTrial) book.isReleased = false;
    }
    if (!isMissed) return;
    this.missedTrials++;
    book.missedMs = this.#observed.nowMs;
    book.waiting = book.waiting.filter(({ token }) => processOf(token) === process);
  }

  #violation(key: string, text: string): void {
    this.#observed.violation(`${key}: ${text}`);
  }
}

export function usedOf({ leases }: NameBook, nowMs = Number.NEGATIVE_INFINITY): number {
  let used = 0;
  for (const { permits, untilMs } of leases.values()) if (untilMs >= nowMs) used += permits;
  return used;
}

export function fits(book: NameBook, { permits, limit }: Ticket, nowMs?: number): boolean {
  return usedOf(book, nowMs) + permits <= limit;
}
