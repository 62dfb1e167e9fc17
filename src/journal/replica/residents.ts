import type { Store } from "../../store/contract.ts";

/** Something that holds a copy of events and can be told to let go of it. */
export interface Resident {
  letGo(): void;
}

/** One resident's account; what it holds must be `held` while it is being read into or asked. */
export interface Account {
  readonly resident: WeakRef<Resident>;
  readonly maxBytes: number;
  sizeBytes: number;
  held: number;
}

const ofStores = new WeakMap<Store, Residents>();

/**
 * The copies that the series of one store keep for queries. Together they stay within the largest of the series'
 * bounds: beyond it the one least recently queried lets go, and is read again when it is asked. A series that its owner
 * forgot goes with its copy.
 */
export class Residents {
  /** Least recently queried first. */
  readonly #accounts = new Set<Account>();
  readonly #forgotten = new FinalizationRegistry<Account>((account) => this.#setSize(account, 0));
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

  /** Told after each answer, and when a copy was let go of (0 bytes). */
  settle(account: Account, sizeBytes: number): void {
    this.#setSize(account, sizeBytes);
    if (this.#totalBytes <= account.maxBytes) return;
    const boundBytes = this.#boundBytes;
    for (const other of this.#accounts) {
      if (this.#totalBytes <= boundBytes) return;
      if (other === account || other.held > 0) continue;
      other.resident.deref()?.letGo();
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
    this.#accounts.delete(account);
    if (sizeBytes > 0) this.#accounts.add(account);
  }
}
