import type { Clock } from "../../../base/time.ts";
import type { Store } from "../../../store/contract.ts";
import type { Account, IdlePacking, Resident } from "./idle-packing.ts";

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
  /** Undefined in a Worker, which does nothing after its request. */
  readonly #packing: IdlePacking | undefined;
  readonly #monotonic: Clock;

  constructor({ monotonic }: Store, Packing: typeof IdlePacking | undefined) {
    this.#monotonic = monotonic;
    this.#packing = Packing && new Packing(this.#accounts, monotonic, this.#resize);
  }

  static of(store: Store, Packing?: typeof IdlePacking): Residents {
    let residents = ofStores.get(store);
    if (!residents) {
      residents = new Residents(store, Packing);
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
    if (this.#packing?.isWaiting === false) this.#packing.wait();
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

  readonly #resize = (account: Account, sizeBytes: number): void => {
    this.#totalBytes += sizeBytes - account.sizeBytes;
    account.sizeBytes = sizeBytes;
  };

  #setSize(account: Account, sizeBytes: number): void {
    this.#resize(account, sizeBytes);
    if (account === this.#last && sizeBytes > 0) return;
    this.#accounts.delete(account);
    if (sizeBytes > 0) this.#accounts.add(account);
    this.#last = sizeBytes > 0 ? account : undefined;
  }
}
