import type { Random } from "./random.ts";
import type { Owner, World } from "./world.ts";

/** A process of the application: it can stop for a while (SIGSTOP, a long garbage collection) and it can die. */
export class SimProcess implements Owner {
  readonly name: string;
  readonly #world: World;
  readonly #held: (() => void)[] = [];
  readonly #bootMs: number;
  readonly #drift: number;
  #state: "running" | "paused" | "dead" = "running";
  /** Virtual ms that this process has spent paused: calls may last that much longer. */
  pausedMs = 0;
  #pausedAtMs = 0;
  #frozenMs = 0;
  #isFrozen = false;
  #isCutOff = false;

  constructor(world: World, name: string, random: Random) {
    this.name = name;
    this.#world = world;
    const self = this;
    this.wire = {
      get state() {
        return self.#state;
      },
      hold(run) {
        if (!self.#isCutOff) self.hold(run);
      },
    };
    this.#bootMs = world.nowMs - random.int(0, 1_000_000);
    this.#drift = 1 + random.int(-200, 200) / 1_000_000;
  }

  get state(): "running" | "paused" | "dead" {
    return this.#state;
  }

  /** The monotonic clock of this process: its own start, up to 200 ppm wrong, and without the time that it was frozen. */
  readonly monotonic = (): number => (this.#world.nowMs - this.#bootMs - this.#frozenMs) * this.#drift;

  /** The receiver of a connection of this process. While the process is frozen the connection may break. */
  readonly wire: Owner;

  /**
   * A timer by the monotonic clock: what is left of it when the process is frozen is left afterwards. It never rings
   * early: who asks again until a deadline would ask for ever in its last fraction of a ms, as virtual time is whole.
   */
  after(delayMs: number, run: () => void): void {
    const dueMs = this.monotonic() + delayMs;
    const ring = () => {
      const leftMs = dueMs - this.monotonic();
      if (leftMs > 0) this.#world.after(Math.ceil(leftMs), ring, this);
      else run();
    };
    this.#world.after(delayMs, ring, this);
  }

  hold(run: () => void): void {
    this.#held.push(run);
  }

  pause(): void {
    if (this.#state !== "running") return;
    this.#state = "paused";
    this.#pausedAtMs = this.#world.nowMs;
    this.#world.note(() => `${this.name} pauses`);
  }

  /** A pause during which the monotonic clock stands still, as a suspended machine's or an isolate's does. */
  freeze(isCutOff: boolean): void {
    if (this.#state !== "running") return;
    this.pause();
    this.#isFrozen = true;
    this.#isCutOff = isCutOff;
  }

  resume(): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
    if (this.#isFrozen) this.#frozenMs += this.#world.nowMs - this.#pausedAtMs;
    this.#isFrozen = this.#isCutOff = false;
    this.pausedMs += this.#world.nowMs - this.#pausedAtMs;
    this.#world.note(() => `${this.name} resumes`);
    for (const run of this.#held.splice(0)) this.#world.after(0, run, this);
  }

  kill(): void {
    this.#state = "dead";
    this.#held.length = 0;
    this.#world.note(() => `${this.name} dies`);
  }
}
