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

  constructor(world: World, name: string, random: Random) {
    this.name = name;
    this.#world = world;
    this.#bootMs = world.nowMs - random.int(0, 1_000_000);
    this.#drift = 1 + random.int(-200, 200) / 1_000_000;
  }

  get state(): "running" | "paused" | "dead" {
    return this.#state;
  }

  /** The monotonic clock of this process: its own start, and up to 200 ppm wrong. */
  readonly monotonic = (): number => (this.#world.nowMs - this.#bootMs) * this.#drift;

  hold(run: () => void): void {
    this.#held.push(run);
  }

  pause(): void {
    if (this.#state !== "running") return;
    this.#state = "paused";
    this.#pausedAtMs = this.#world.nowMs;
    this.#world.note(() => `${this.name} pauses`);
  }

  resume(): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
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
