import { corruptError } from "../../../base/errors.ts";
import type { PolicyState, StateContext } from "./rule.ts";

/** Memory that a state of a few numbers takes. */
export const STATE_BYTES = 300;

/** The fields that every kind of policy stores under its key. */
export interface StoredState {
  kind: number;
  blockedUntilMs: number;
  reservedUntilMs: number;
}

/** Reads the stored value and writes it with its expiry. */
export abstract class StoredPolicyState<Stored extends StoredState> implements PolicyState {
  blockedUntilMs: number;
  reservedUntilMs: number;
  abstract readonly used: number;
  abstract readonly free: number;
  protected readonly context: StateContext;
  protected readonly stored: Stored | undefined;

  /** Throws CORRUPT if the key has the state of another kind of policy. */
  constructor(context: StateContext, kind: number) {
    const { keys, key, nowMs } = context;
    const stored = keys.get(key);
    if (stored !== undefined && Object(stored).kind !== kind)
      throw corruptError(key, "the state of another kind of policy");
    this.context = context;
    this.stored = stored as Stored | undefined;
    this.blockedUntilMs = untilOrZero(this.stored?.blockedUntilMs, nowMs);
    this.reservedUntilMs = untilOrZero(this.stored?.reservedUntilMs, nowMs);
  }

  abstract waitMs(permits: number): number;
  abstract resetMs(): number;
  abstract take(calls: number, cost: number, token: string): void;
  abstract giveBack(permits: number): void;
  abstract write(): void;

  /** When the key expires, if the policy's own numbers matter until `endMs`. */
  protected expireAtMs(endMs: number): number {
    return Math.max(endMs, this.blockedUntilMs, this.reservedUntilMs);
  }

  /** Writes a value that matters until `endMs`. Deletes the key if that is over. */
  protected store(value: object, endMs: number, sizeBytes: number): void {
    const { keys, key, nowMs } = this.context;
    const { blockedUntilMs, reservedUntilMs } = this;
    const expireAtMs = this.expireAtMs(endMs);
    if (expireAtMs > nowMs) keys.set(key, { ...value, blockedUntilMs, reservedUntilMs }, sizeBytes, expireAtMs);
    else keys.delete(key);
  }
}

/** Blocks and reservations that are over count as 0, and are written as 0. */
function untilOrZero(untilMs: number | undefined, nowMs: number): number {
  return untilMs !== undefined && untilMs > nowMs ? untilMs : 0;
}
