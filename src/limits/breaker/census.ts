import {
  CENSUS_STEPS,
  EPOCH_MODULUS,
  MAX_PROCESSES,
  PLACES_TRIED,
  PROCESS_LIFE_MS,
  STEPS_PER_SPAN,
} from "../../generated/layouts/breaker.ts";
import { ownText } from "../../store/memory/heap-bytes.ts";
import type { Rule, Voices } from "./rule.ts";

interface Place {
  id: string;
  sequence: number;
  /** When its last batch came, ms after the base. */
  ms: number;
  epoch: number;
  sees: boolean;
}

/**
 * The processes of a shared circuit, each in its place, and how many of them called lately and see failures. The twin of
 * lua/breaker/processes.lua. Each step costs O(1).
 */
export class Census implements Voices {
  callers = 0;
  seeing = 0;
  /** Those that had called lately when the circuit opened last. */
  former = 0;
  readonly #places: Place[] = [];
  readonly #placeOf = new Map<string, number>();
  readonly #callers = new Float64Array(CENSUS_STEPS);
  readonly #seeing = new Float64Array(CENSUS_STEPS);
  #baseMs: number;
  #stampMs = 0;
  #cursor = 0;

  constructor(nowMs: number) {
    this.#baseMs = nowMs;
  }

  /** Number of places. */
  get size(): number {
    return this.#places.length;
  }

  /** Brings the census to the present. The clock stepped back by `behindMs`, and no time passes in such a step. */
  advance({ spanMs }: Rule, nowMs: number, behindMs: number, isClosed: boolean): void {
    const from = stepOf(this.#stampMs, spanMs);
    this.#baseMs -= behindMs;
    this.#stampMs = nowMs - this.#baseMs;
    const to = stepOf(this.#stampMs, spanMs);
    if (!isClosed) return;
    for (let step = Math.max(from, to - CENSUS_STEPS) + 1; step <= to; step++) {
      const at = step % CENSUS_STEPS;
      this.#count(at, -this.#callers[at]!, -this.#seeing[at]!);
    }
  }

  /** Begins an empty window. */
  clear(): void {
    this.former = this.callers;
    this.callers = this.seeing = 0;
    this.#callers.fill(0);
    this.#seeing.fill(0);
  }

  /** The place of a process, from 1; undefined if it is unknown. */
  placeOf(id: string): number | undefined {
    return this.#placeOf.get(id);
  }

  sequenceAt(place: number): number {
    return this.#places[place - 1]!.sequence;
  }

  /**
   * Stores a process's last batch, and counts the process in the window of a closed circuit, which is `epoch`; else undefined.
   * Returns its place.
   */
  remember({ spanMs }: Rule, id: string, sequence: number, sees: boolean, epoch: number | undefined): number {
    const place = this.#placeOf.get(id) ?? this.#placeOfNew(this.#stampMs - spanMs - PROCESS_LIFE_MS);
    const now = stepOf(this.#stampMs, spanMs);
    const window = epoch === undefined ? -1 : epoch % EPOCH_MODULUS;
    const before = this.#places[place - 1];
    if (epoch !== undefined) {
      const step = before && stepOf(before.ms, spanMs);
      if (step !== undefined && before!.epoch === window && step > now - CENSUS_STEPS)
        this.#count(step % CENSUS_STEPS, -1, before!.sees ? -1 : 0);
      this.#count(now % CENSUS_STEPS, 1, sees ? 1 : 0);
    }
    if (before && before.id !== id) this.#placeOf.delete(before.id);
    const kept = before?.id === id ? before.id : ownText(id);
    this.#places[place - 1] = { id: kept, sequence, ms: this.#stampMs, epoch: window, sees };
    this.#placeOf.set(kept, place);
    return place;
  }

  /** That of one that was silent for long, a new one, or that of another one. */
  #placeOfNew(keepMs: number): number {
    const size = this.#places.length;
    for (let tried = 0; tried < Math.min(PLACES_TRIED, size); tried++) {
      this.#cursor = (this.#cursor % size) + 1;
      if (this.#places[this.#cursor - 1]!.ms < keepMs) return this.#cursor;
    }
    if (size < MAX_PROCESSES) return size + 1;
    this.#cursor = (this.#cursor % size) + 1;
    return this.#cursor;
  }

  #count(at: number, callers: number, seeing: number): void {
    this.#callers[at]! += callers;
    this.#seeing[at]! += seeing;
    this.callers += callers;
    this.seeing += seeing;
  }
}

function stepOf(ms: number, spanMs: number): number {
  return Math.floor((ms * STEPS_PER_SPAN) / spanMs);
}
