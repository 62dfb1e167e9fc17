import { endsWithRequest } from "../../base/async/of-request.ts";
import { type BucketName, type Calendar, localDigits } from "../../base/calendar.ts";
import { mirrorScript } from "../../generated/scripts/counter.ts";
import type { Operation, Store } from "../../store/contract.ts";
import { unpackStrings } from "../../store/message-pack.ts";
import { readField } from "./format/layout.ts";

const MAX_WAITING_BYTES = 16 << 20;
/** Bytes of an entry besides its key. */
const ENTRY_BYTES = 150;
const AT_A_TIME = 2048;
const FORMS: Record<BucketName, { digits: number; letter: string }> = {
  minute: { digits: 12, letter: "M" },
  hour: { digits: 10, letter: "H" },
  day: { digits: 8, letter: "D" },
};

export interface MirrorOptions {
  store: Store;
  buckets: readonly BucketName[];
  calendar: Calendar;
  prefix: string;
  keepMs: number;
}

/**
 * Adds counts to plain keys, `<prefix><first value>:<local time>:<other values>:<M, H or D>`, for programs that read
 * them with GET. No call waits for it, and nothing is sent twice. After a fault it shows too few counts, or still shows
 * counts that a failover lost. One round is sent at a time, and new counts are summed up for the next one.
 */
export class Mirror {
  readonly #options: MirrorOptions;
  readonly #waiting = new Map<string, bigint>();
  #waitingBytes = 0;
  #turn: Promise<void> | undefined;

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  /** Rows in the form of lua/counter/add.lua. */
  add(rows: Uint8Array): void {
    const texts = unpackStrings(rows);
    for (let i = 0; i < texts.length; i += 2) {
      const count = BigInt(texts[i + 1]!);
      for (const key of this.#keysOf(texts[i]!)) {
        const waiting = this.#waiting.get(key);
        // The store does not keep up. The mirror drops counts, so that the memory of the process stays bounded.
        if (waiting === undefined) {
          if (this.#waitingBytes + bytesOf(key) > MAX_WAITING_BYTES) continue;
          this.#waitingBytes += bytesOf(key);
        }
        this.#waiting.set(key, (waiting ?? 0n) + count);
      }
    }
    // In Workers the running round may have ended with its request.
    if (endsWithRequest) this.#turn = this.#send();
    else this.#turn ??= this.#send();
  }

  /** Waits for the running round. Never rejects. */
  async settled(): Promise<void> {
    await this.#turn;
  }

  async #send(): Promise<void> {
    const { store, keepMs } = this.#options;
    while (this.#waiting.size > 0) {
      const some = [...this.#waiting].slice(0, AT_A_TIME);
      for (const [key] of some) {
        this.#waiting.delete(key);
        this.#waitingBytes -= bytesOf(key);
      }
      await Promise.allSettled(some.map(([key, count]) => store.run(mirrorAdd, key, { count, keepMs })));
    }
    this.#turn = undefined;
  }

  #keysOf(field: string): string[] {
    const { buckets, calendar, prefix } = this.#options;
    const { startMinute, values } = readField(field);
    const time = localDigits(calendar, startMinute);
    const [first, ...others] = values;
    return buckets.map((bucket) => {
      const { digits, letter } = FORMS[bucket];
      return prefix + [first, time.slice(0, digits), ...others, letter].join(":");
    });
  }
}

function bytesOf(key: string): number {
  return ENTRY_BYTES + 2 * key.length;
}

const MAX_SUM = 2n ** 63n - 1n;
const KEY_BYTES = 64;

/** Adds to a plain key and extends its expiry. Sent only once. Law in lua/counter/mirror.lua. */
const mirrorAdd: Operation<{ count: bigint; keepMs: number }, void> = {
  name: "counter/mirror",
  script: mirrorScript,
  keyCount: 1,
  arity: 2,
  repeatable: false,
  encode: ({ count, keepMs }) => [`${count}`, keepMs],
  decode: () => undefined,
  local(keys, key, { count, keepMs }, nowMs) {
    const sum = BigInt((keys.get(key) as string | undefined) ?? 0) + count;
    if (sum > MAX_SUM) throw new RangeError("increment or decrement would overflow");
    keys.set(key, `${sum}`, KEY_BYTES, nowMs + keepMs);
  },
};
