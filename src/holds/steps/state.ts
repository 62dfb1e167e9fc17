import {
  AFTER_TRIAL_MS,
  HEAD_BYTES,
  HOLD_LENGTH,
  MAX_PLACES,
  NUMBER_LIFE_MS,
  PLACE_LENGTH,
  PROCESS_LENGTH,
  TRIAL_MS,
} from "../../generated/layouts/hold.ts";
import type { Keyspace } from "../../store/contract.ts";

/** A request for a hold. */
export interface Ticket {
  /** The id of the process and a number of six characters. */
  readonly token: string;
  readonly permits: number;
  /** It is served when its permits and those in use are at most this. */
  readonly limit: number;
  readonly leaseMs: number;
}

/** The holds that a step has given to the calling process, and what it has to know of others. */
export interface Answer {
  /** Of `leave`: the hold was there. */
  isReleased: boolean;
  /** There is at most one hold, and nobody waits. */
  isAlone: boolean;
  /** Holds that this step has given to other processes, on trial. */
  begunTrials: number;
  /** After this time a hold may have ended. 0: there is none. */
  nextMs: number;
  granted: readonly { token: string; number: number }[];
}

/** A hold as it is stored. */
export interface StoredHold {
  readonly token: string;
  readonly number: number;
  readonly permits: number;
  readonly endMs: number;
  /** True until its process has confirmed it. */
  readonly isOnTrial: boolean;
}

/** The state of a name (lua/hold/turn.lua). */
export interface State {
  /** The last number given. */
  readonly last: number;
  readonly holds: readonly StoredHold[];
  /** In order of arrival. */
  readonly places: readonly Ticket[];
}

/** With the bounds that lua/hold/turn.lua keeps: no hold ends before `firstEndMs`, nor after `lastEndMs`. 0: there is none. */
interface KeptState extends State {
  readonly firstEndMs: number;
  readonly lastEndMs: number;
}

/** The state of a name in a memory store. Undefined if there is none. */
export function stateIn(keys: Keyspace, key: string): State | undefined {
  return keys.get(key) as KeptState | undefined;
}

export function processOf(token: string): string {
  return token.slice(0, PROCESS_LENGTH);
}

/** Of a state in the heap, and of each hold or place, besides their bytes in Redis. */
const STATE_BYTES = 128;
const OBJECT_BYTES = 64;

/** One step on the state of a name in a memory store. The twin of lua/hold/turn.lua, which states the rules. */
export class Turn {
  readonly #keys: Keyspace;
  readonly #key: string;
  readonly #nowMs: number;
  readonly #process: string;
  #last: number;
  #holds: StoredHold[];
  #places: Ticket[];
  #firstEndMs: number;
  #lastEndMs: number;
  #begunTrials = 0;
  #isChanged = false;
  readonly #granted = new Map<string, number>();
  readonly #messages = new Map<string, string>();

  constructor(keys: Keyspace, key: string, process: string, nowMs: number) {
    const state = keys.get(key) as KeptState | undefined;
    this.#keys = keys;
    this.#key = key;
    this.#process = process;
    this.#nowMs = nowMs;
    this.#last = state?.last ?? 0;
    this.#firstEndMs = state?.firstEndMs ?? 0;
    this.#lastEndMs = state?.lastEndMs ?? 0;
    this.#holds = [...(state?.holds ?? [])];
    this.#places = [...(state?.places ?? [])];
  }

  /** Serves those that wait, in order. */
  serve(): void {
    if (this.#sweep()) this.#keepOwnPlaces();
    while (this.#places[0] && this.#fits(this.#places[0])) this.#add(this.#places.shift()!);
  }

  /** Confirms the hold of a ticket, grants it one, or gives it a place. */
  ask(ticket: Ticket, mayWait: boolean): void {
    const { token, leaseMs } = ticket;
    const at = this.#holds.findIndex((hold) => hold.token === token);
    const hold = this.#holds[at];
    if (hold) {
      if (this.#granted.has(token)) return;
      this.#granted.set(token, hold.number);
      if (hold.isOnTrial || hold.endMs < this.#nowMs + leaseMs) this.#extend(at, hold, leaseMs);
    } else if (this.#places.length === 0 && this.#fits(ticket)) this.#add(ticket);
    else if (mayWait && this.#places.length < MAX_PLACES && !this.#places.some((place) => place.token === token)) {
      this.#places.push(ticket);
      this.#isChanged = true;
    }
  }

  /** Removes the token's hold, or its place. Returns true if it had a hold. */
  remove(token: string): boolean {
    const isHeld = this.#holds.some((hold) => hold.token === token);
    const isWaiting = this.#places.some((place) => place.token === token);
    this.#holds = this.#holds.filter((hold) => hold.token !== token);
    this.#places = this.#places.filter((place) => place.token !== token);
    this.#isChanged ||= isHeld || isWaiting;
    if (this.#holds.length === 0) this.#firstEndMs = 0;
    return isHeld;
  }

  /** Keeps the number of the caller's hold if the state was lost. */
  restore(last: number): void {
    if (stateIn(this.#keys, this.#key)) return;
    this.#last = last;
    this.#lastEndMs = this.#nowMs;
    this.#isChanged = true;
  }

  /** Extends a hold, if it has not ended. */
  renew(token: string, leaseMs: number): boolean {
    const at = this.#holds.findIndex((hold) => hold.token === token);
    const hold = this.#holds[at];
    if (!hold || hold.endMs < this.#nowMs) return false;
    this.#extend(at, hold, leaseMs);
    this.#write();
    return true;
  }

  /** Writes the state, sends the messages and returns the answer. */
  save(isReleased: boolean): Answer {
    const holds = this.#holds;
    const places = this.#places;
    if (this.#isChanged) this.#write();
    for (const [process, message] of this.#messages) this.#keys.publish(`${this.#key}:${process}`, message);
    return {
      isReleased,
      isAlone: places.length === 0 && holds.length <= 1,
      begunTrials: this.#begunTrials,
      nextMs: this.#nextMs(),
      granted: [...this.#granted].map(([token, number]) => ({ token, number })),
    };
  }

  #write(): void {
    // Copies have no room for more.
    const holds = this.#holds.slice();
    const places = this.#places.slice();
    const ofHolds = (HOLD_LENGTH + OBJECT_BYTES) * holds.length;
    const sizeBytes = HEAD_BYTES + STATE_BYTES + ofHolds + (PLACE_LENGTH + OBJECT_BYTES) * places.length;
    const lastEndMs = holds.length > 0 ? this.#lastEndMs : 0;
    const state: KeptState = { last: this.#last, holds, places, firstEndMs: this.#firstEndMs, lastEndMs };
    this.#keys.set(this.#key, state, sizeBytes, this.#lastEndMs + NUMBER_LIFE_MS);
  }

  #nextMs(): number {
    if (this.#holds.some((hold) => hold.isOnTrial)) return AFTER_TRIAL_MS;
    if (this.#holds.length === 0) return 0;
    return Math.max(1, this.#firstEndMs - this.#nowMs + 1);
  }

  #extend(at: number, hold: StoredHold, leaseMs: number): void {
    const endMs = Math.max(hold.endMs, this.#nowMs + leaseMs);
    if (this.#holds.length === 1) this.#firstEndMs = endMs;
    this.#lastEndMs = Math.max(this.#lastEndMs, endMs);
    this.#holds[at] = { ...hold, endMs, isOnTrial: false };
    this.#isChanged = true;
  }

  #fits({ permits, limit }: Ticket): boolean {
    return this.#holds.reduce((used, hold) => used + hold.permits, 0) + permits <= limit;
  }

  #add({ token, permits, leaseMs }: Ticket): void {
    const isOwn = processOf(token) === this.#process;
    this.#last = Math.max(this.#last + 1, this.#nowMs * 1000);
    const endMs = this.#nowMs + (isOwn ? leaseMs : TRIAL_MS);
    this.#firstEndMs = this.#holds.length === 0 ? endMs : Math.min(this.#firstEndMs, endMs);
    this.#lastEndMs = Math.max(this.#lastEndMs, endMs);
    this.#holds.push({ token, number: this.#last, permits, endMs, isOnTrial: !isOwn });
    this.#isChanged = true;
    if (isOwn) this.#granted.set(token, this.#last);
    else this.#begunTrials++;
    if (!isOwn) this.#tell(token, String(Number(this.#messages.get(processOf(token)) ?? 0) + 1));
  }

  #sweep(): boolean {
    const hasEnded = ({ endMs, isOnTrial }: StoredHold) =>
      endMs < this.#nowMs || (isOnTrial && endMs > this.#nowMs + TRIAL_MS);
    const hasTrial = this.#holds.some((hold) => hold.isOnTrial);
    if (this.#holds.length === 0 || (this.#firstEndMs >= this.#nowMs && !hasTrial)) return false;
    const isMissed = this.#holds.some((hold) => hold.isOnTrial && hasEnded(hold));
    const kept = this.#holds.filter((hold) => !hasEnded(hold));
    const firstEndMs = kept.length === 0 ? 0 : Math.min(...kept.map(({ endMs }) => endMs));
    this.#isChanged ||= kept.length < this.#holds.length || firstEndMs !== this.#firstEndMs;
    this.#firstEndMs = firstEndMs;
    this.#holds = kept;
    return isMissed;
  }

  #keepOwnPlaces(): void {
    const isOwn = ({ token }: Ticket) => processOf(token) === this.#process;
    for (const place of this.#places) if (!isOwn(place)) this.#tell(place.token, "lost");
    this.#places = this.#places.filter(isOwn);
  }

  #tell(token: string, message: string): void {
    this.#messages.set(processOf(token), message);
  }
}
