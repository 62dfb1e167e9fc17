import { latencies } from "../events.ts";
import { Ledger } from "../ledger.ts";
import type { Rival, RivalWindow } from "../rivals/contract.ts";
import { type Load, runSlice, type Slice } from "./measure.ts";

/** The values added during slices, the same for every rival, repeated. */
const ADDED = latencies(4096, 2);

/** A window that grew by more than this share of its preloaded events is reloaded before the next slice. */
const MAX_GROWTH = 0.25;

/** One rival on a window of `preload` events: keeps the window near that size and checks every answer. */
export class Runner {
  readonly rival: Rival;
  bytesPerEvent = Number.NaN;
  readonly #redisUrl: string;
  readonly #windowMs: number;
  readonly #preload: Float32Array;
  #window: RivalWindow | undefined;
  #ledger: Ledger;
  #opened = 0;
  #next = 0;

  constructor(rival: Rival, redisUrl: string, windowMs: number, preload: Float32Array) {
    this.rival = rival;
    this.#redisUrl = redisUrl;
    this.#windowMs = windowMs;
    this.#preload = preload;
    this.#ledger = new Ledger(rival.name, preload);
  }

  get note(): string {
    return this.#window?.note() ?? "";
  }

  get checksum(): number {
    return this.#ledger.checksum;
  }

  /** Untimed: opens the window, or reloads it where it grew too much, and reads it once. */
  async prepare(): Promise<void> {
    if (this.#window && this.#ledger.count <= this.#preload.length * (1 + MAX_GROWTH)) return;
    await this.#window?.close();
    const name = `bench ${this.rival.name} ${this.#preload.length} ${this.#opened++}`;
    this.#ledger = new Ledger(this.rival.name, this.#preload);
    this.#window = await this.rival.open(this.#redisUrl, name, this.#windowMs, this.#preload);
    this.bytesPerEvent = (await this.#window.redisBytes()) / this.#preload.length;
    await this.verify();
  }

  slice(load: Load): Promise<Slice> {
    return runSlice(load, (signal) => this.#add(signal));
  }

  /** One add with nothing else under way, whose answer must agree with everything added before. */
  async verify(): Promise<void> {
    if (!(await this.#add(new AbortController().signal, true)))
      throw new Error(`${this.rival.name} refused an add that ran alone`);
  }

  async close(): Promise<void> {
    await this.#window?.close();
    this.#window = undefined;
  }

  async #add(signal: AbortSignal, alone = false): Promise<boolean> {
    const value = ADDED[this.#next++ % ADDED.length] as number;
    this.#ledger.send();
    const answer = await this.#window?.add(value, signal);
    if (!answer) return false;
    this.#ledger.receive(value, answer);
    if (alone) this.#ledger.verify(answer);
    return true;
  }
}
