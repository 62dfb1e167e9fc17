import type { Random } from "./random.ts";
import type { Owner, World } from "./world.ts";

/** How bad the world is; probabilities of one message or one moment. */
export interface Weather {
  lostRequest: number;
  lostReply: number;
  /** The request arrives a second time, later. */
  repeated: number;
  /** How late the second copy may be: a client library's or a proxy's retry, ms. */
  repeatedLateMs: number;
  /** A message takes more than a few ms. */
  slow: number;
  slowMs: number;
}

export const CALM: Weather = { lostRequest: 0, lostReply: 0, repeated: 0, repeatedLateMs: 0, slow: 0, slowMs: 0 };

/** The wires between all processes and the server. Messages are lost, late, doubled, and overtake each other. */
export class Network {
  readonly weather: Weather;
  /** Until then the server answers nothing; it handles afterwards what has come meanwhile. */
  silentUntilMs = 0;
  /** Until then connections are refused. */
  refusingUntilMs = 0;
  /** Until then steps on several keys are answered with TRYAGAIN, because the slot migrates. */
  migratingUntilMs = 0;
  /** Requests that are under way are lost, with the connections to a server that is gone. */
  #epoch = 0;
  readonly #world: World;
  readonly #random: Random;

  constructor(world: World, weather: Weather, random: Random) {
    this.#world = world;
    this.weather = weather;
    this.#random = random;
  }

  /** Carries a request to `handle`: never, once or twice. Returns whether a second copy is under way. */
  request(handle: () => void): boolean {
    const random = this.#random;
    const { lostRequest, repeated, repeatedLateMs } = this.weather;
    const late = this.#delayMs();
    if (!random.chance(lostRequest)) this.#arrive(late, handle);
    const isDoubled = random.chance(repeated);
    if (isDoubled) this.#arrive(late + random.int(0, repeatedLateMs), handle);
    return isDoubled;
  }

  /** Carries a reply back to its owner, or loses it. */
  reply(deliver: () => void, owner: Owner): void {
    const late = this.#delayMs();
    if (!this.#random.chance(this.weather.lostReply)) this.#world.after(late, deliver, owner);
  }

  get isRefusing(): boolean {
    return this.#world.nowMs < this.refusingUntilMs;
  }

  get isMigrating(): boolean {
    return this.#world.nowMs < this.migratingUntilMs;
  }

  breakConnections(): void {
    this.#epoch++;
  }

  #arrive(delayMs: number, handle: () => void): void {
    const epoch = this.#epoch;
    this.#world.after(delayMs, () => {
      if (epoch !== this.#epoch) return;
      const silentMs = this.silentUntilMs - this.#world.nowMs;
      if (silentMs > 0) this.#world.after(silentMs, handle);
      else handle();
    });
  }

  #delayMs(): number {
    const random = this.#random;
    if (!random.chance(this.weather.slow)) return random.int(0, 3);
    const most = random.pick([30, 300, 1500, this.weather.slowMs]);
    return random.int(0, Math.min(most, this.weather.slowMs));
  }
}
