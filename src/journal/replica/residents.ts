import type { Store } from "../../store/contract.ts";

/** Something with a copy of events that can be evicted. */
export interface Resident {
  evict(): void;
}

/** One resident's account. `held` is above 0 while its copy is being updated or read. */
export interface Account {
  readonly resident: WeakRef<Resident>;
  readonly maxBytes: number;
  sizeBytes: number;
  held: number;
}

const ofStores = new WeakMap<Store, Residents>();

/**
 * The copies that the series of one store cache for queries. Together they stay within the largest of the series'
 * bounds. Above it the least recently queried copy is evicted; its series reads it again for the next query. The copy of
 * a series that was garbage-collected no longer counts.
 */
export class Residents {
  /** Least recently queried first. */
  readonly #accounts = new Set<Account>();
  readonly #forgotten = new FinalizationRegistry<Account>((account) => this.#setSize(account, 0));
  /** The most recently queried one, if it still is the last of `#accounts`. */
  #last: Account | undefined;
  #totalBytes = 0;

  static of(store: Store): Residents {
    let residents = ofStores.get(store);
    if (!residents) {
      residents = new Residents();
      ofStores.set(store, residents);
    }
    return residents;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  open(resident: Resident, maxBytes: number): Account {
    const account = { resident: new WeakRef(resident), maxBytes, sizeBytes: 0, held: 0 };
    this.#forgotten.register(resident, account);
    return account;
  }

  /** Called after each answer, and with 0 bytes when a copy was cleared. */
  settle(account: Account, sizeBytes: number): void {
    this.#setSize(account, sizeBytes);
    if (this.#totalBytes <= account.maxBytes) return;
    const boundBytes = this.#boundBytes;
    for (const other of this.#accounts) {
      if (this.#totalBytes <= boundBytes) return;
      if (other === account || other.held > 0) continue;
      other.resident.deref()?.evict();
      this.#setSize(other, 0);
    }
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
