/** The owner of an event. Events of a paused owner are held, those of a dead one never happen. */
export interface Owner {
  readonly state: "running" | "paused" | "dead";
  hold(run: () => void): void;
}

interface Event {
  readonly atMs: number;
  readonly order: number;
  readonly owner: Owner | undefined;
  readonly run: () => void;
}

const TRACE_LINES = 5_000;

/**
 * Virtual time. Events happen one by one, by time, then by the order in which they were planned; after each one all
 * promise callbacks run to their end, so that nothing depends on the machine.
 */
export class World {
  nowMs: number;
  /** The last lines of what happened; empty unless `tracing`. */
  readonly trace: string[] = [];
  readonly violations: string[] = [];
  readonly tracing: boolean;
  eventCount = 0;
  readonly #heap: Event[] = [];
  #planned = 0;

  constructor(startMs: number, tracing = false) {
    this.nowMs = startMs;
    this.tracing = tracing;
  }

  after(delayMs: number, run: () => void, owner?: Owner): void {
    const event = { atMs: this.nowMs + Math.max(0, Math.round(delayMs)), order: this.#planned++, owner, run };
    this.#heap.push(event);
    this.#rise(this.#heap.length - 1);
  }

  sleep(delayMs: number, owner?: Owner): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve, owner));
  }

  /** Lets everything up to `untilMs` happen; then it is `untilMs`. */
  async run(untilMs: number): Promise<void> {
    // The called code schedules further events only in callbacks.
    await turn();
    while (this.#heap.length > 0 && this.#heap[0]!.atMs <= untilMs) {
      const event = this.#pop();
      this.nowMs = event.atMs;
      if (event.owner?.state === "dead") continue;
      if (event.owner?.state === "paused") {
        event.owner.hold(event.run);
        continue;
      }
      this.eventCount++;
      event.run();
      await turn();
    }
    this.nowMs = Math.max(this.nowMs, untilMs);
  }

  note(line: () => string): void {
    if (!this.tracing) return;
    this.trace.push(`${String(this.nowMs).slice(-9)} ${line()}`);
    if (this.trace.length > TRACE_LINES) this.trace.shift();
  }

  /** Something that must never happen has happened. */
  violation(text: string): void {
    if (this.violations.length < 20) this.violations.push(`at ${String(this.nowMs).slice(-9)}: ${text}`);
    this.note(() => `VIOLATION ${text}`);
  }

  #rise(index: number): void {
    const heap = this.#heap;
    for (let child = index; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!isBefore(heap[child]!, heap[parent]!)) return;
      [heap[child], heap[parent]] = [heap[parent]!, heap[child]!];
      child = parent;
    }
  }

  #pop(): Event {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length > 0) {
      heap[0] = last;
      for (let parent = 0; ; ) {
        let least = parent;
        for (const child of [2 * parent + 1, 2 * parent + 2])
          if (child < heap.length && isBefore(heap[child]!, heap[least]!)) least = child;
        if (least === parent) break;
        [heap[least], heap[parent]] = [heap[parent]!, heap[least]!];
        parent = least;
      }
    }
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

/** One turn of the real event loop: every promise callback that can run has run when it resolves. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
