import { endsWithRequest } from "../../../base/async/of-request.ts";
import { idleTimeout } from "../../../base/async/timers.ts";
import { reasonText } from "../../../base/errors.ts";
import type { Clock } from "../../../base/time.ts";
import { warn } from "../../../base/warn.ts";

/** Something with a copy of events that can be evicted, and packed. */
export interface Resident {
  evict(): void;
  /** Packs a part of it, in 1 to 3 ms. Returns its size then, or undefined if all is packed. */
  packNext(): number | undefined;
}

/** One resident's account. `held` is above 0 while its copy is being updated or read. */
export interface Account {
  readonly resident: WeakRef<Resident>;
  readonly maxBytes: number;
  sizeBytes: number;
  held: number;
  /** When it was queried last, by the monotonic clock. */
  askedMs: number;
  isPacked: boolean;
}

/** A copy that is not queried for this long is packed, a part at a time. */
const PACK_AFTER_MS = 5000;
const PART_PAUSE_MS = 5;

/** Packs the copies that are not queried for some seconds. */
export class IdlePacking {
  readonly #accounts: ReadonlySet<Account>;
  readonly #monotonic: Clock;
  readonly #resize: (account: Account, sizeBytes: number) => void;
  isWaiting = false;

  /** `accounts`: least recently queried first. */
  constructor(accounts: ReadonlySet<Account>, monotonic: Clock, resize: (account: Account, sizeBytes: number) => void) {
    this.#accounts = accounts;
    this.#monotonic = monotonic;
    this.#resize = resize;
  }

  wait(ms = PACK_AFTER_MS): void {
    // In a Worker the timer would not be called after the request.
    if (endsWithRequest || this.isWaiting || this.#accounts.size === 0) return;
    this.isWaiting = true;
    idleTimeout(() => {
      this.isWaiting = false;
      this.#packIdle();
    }, ms);
  }

  /** Packs a part of the copy that was not queried for longest. */
  #packIdle(): void {
    for (const account of this.#accounts) {
      if (account.isPacked || account.held > 0) continue;
      const idleMs = this.#monotonic() - account.askedMs;
      if (idleMs < PACK_AFTER_MS) {
        this.wait(PACK_AFTER_MS - idleMs);
        return;
      }
      const sizeBytes = packedBytes(account);
      account.isPacked = sizeBytes === undefined;
      if (sizeBytes === undefined) continue;
      this.#resize(account, sizeBytes);
      this.wait(PART_PAUSE_MS);
      return;
    }
    // Held ones are looked at again when they are released.
  }
}

/** The size after a part was packed; undefined if there is nothing to pack. A failure leaves the copy as it is. */
function packedBytes({ resident }: Account): number | undefined {
  try {
    return resident.deref()?.packNext();
  } catch (error) {
    warn(`a copy is not packed: ${reasonText(error)}`);
    return undefined;
  }
}
