import { endsWithRequest } from "../../../base/async/of-request.ts";
import { idleTimeout } from "../../../base/async/timers.ts";
import { reasonText } from "../../../base/errors.ts";
import type { Clock } from "../../../base/time.ts";
import { warn } from "../../../base/warn.ts";
import type { Store } from "../../../store/contract.ts";

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

const ofStores = new WeakMap<Store, Residents>();

/**
 * The copies that the series of one store cache for queries. Together they stay within the largest of the series'
 * bounds. Above it the least recently queried copy is evicted; its series reads it again for the next query. A copy that is not
 * queried for some seconds is packed. The copy of a series that was garbage-collected no longer counts.
 */
export class Residents {
  /** Least recently queried first. */
  readonly #accounts = new Set<Account>();
  readonly #forgotten = new FinalizationRegistry<Account>((account) => this.#setSize(account, 0));
  /** The most recently queried one, if it still is the last of `#accounts`. */
  #last: Account | undefined;
  #totalBytes = 0;
  #timer: ReturnType<typeof idleTimeout> | undefined;
  readonly #monotonic: Clock;

  constructor(monotonic: Clock) {
    this.#monotonic = monotonic;
  }

  static of(store: Store): Residents {
    let residents = ofStores.get(store);
    if (!residents) {
      residents = new Residents(store.monotonic);
      ofStores.set(store, residents);
    }
    return residents;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  open(resident: Resident, maxBytes: number): Account {
    const account = { resident: new WeakRef(resident), maxBytes, sizeBytes: 0, held: 0, askedMs: 0, isPacked: true };
    this.#forgotten.register(resident, account);
    return account;
  }

  /** Called after each answer, and with 0 bytes when a copy was cleared. */
  settle(account: Account, sizeBytes: number): void {
    this.#setSize(account, sizeBytes);
    account.askedMs = this.#monotonic();
    account.isPacked = sizeBytes === 0;
    this.#wait(PACK_AFTER_MS);
    if (this.#totalBytes <= account.maxBytes) return;
    const boundBytes = this.#boundBytes;
    for (const other of this.#accounts) {
      if (this.#totalBytes <= boundBytes) return;
      if (other === account || other.held > 0) continue;
      other.resident.deref()?.evict();
      this.#setSize(other, 0);
    }
  }

  /** A Worker does nothing after its request, so its copies are not packed. */
  #wait(ms: number): void {
    if (endsWithRequest || this.#timer || this.#accounts.size === 0) return;
    this.#timer = idleTimeout(() => {
      this.#timer = undefined;
      this.#packIdle();
    }, ms);
  }

  /** Packs a part of the copy that was not queried for longest. */
  #packIdle(): void {
    for (const account of this.#accounts) {
      if (account.isPacked || account.held > 0) continue;
      const idleMs = this.#monotonic() - account.askedMs;
      if (idleMs < PACK_AFTER_MS) {
        this.#wait(PACK_AFTER_MS - idleMs);
        return;
      }
      const sizeBytes = packedBytes(account);
      account.isPacked = sizeBytes === undefined;
      if (sizeBytes === undefined) continue;
      this.#totalBytes += sizeBytes - account.sizeBytes;
      account.sizeBytes = sizeBytes;
      this.#wait(PART_PAUSE_MS);
      return;
    }
    // Held ones are looked at again when they are released.
  }

  get #boundBytes(): number {
    let boundBytes = 0;
    for (const { maxBytes } of this.#accounts) boundBytes = Math.max(boundBytes, maxBytes);
    return boundBytes;
  }

  #setSize(account: Account, sizeBytes: number): void {
    this.#totalBytes += sizeBytes - account.sizeBytes;
    account.sizeBytes = sizeBytes;
    if (account === this.#last && sizeBytes > 0) return;
    this.#accounts.delete(account);
    if (sizeBytes > 0) this.#accounts.add(account);
    this.#last = sizeBytes > 0 ? account : undefined;
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
