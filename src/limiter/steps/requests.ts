import { corruptError } from "../../errors.ts";
import type { Keyspace } from "../../store/contract.ts";
import { refusal } from "../../store/refusal.ts";
import type { Ask, Reply } from "./ask.ts";
import { law } from "./law.ts";
import type { State } from "./rule.ts";

/** What a request was answered, while `present` is that of its id. */
interface Recorded {
  present: string;
  question: string;
  reply: Reply;
}

interface Present {
  present: string;
  expireAtMs: number;
}

const BYTES = { present: 130, record: 260, policy: 130 };

/** Requests with an id, of one limiter's id; law in lua/limiter/requests.lua. */
export class Requests {
  readonly #keys: Keyspace;
  readonly #key: string;
  readonly #presentKey: string;
  readonly #question: string;

  /** `names`: all keys of the step, these two at the end. */
  constructor(keys: Keyspace, names: readonly string[], ask: Ask) {
    this.#keys = keys;
    this.#key = names[names.length - 1]!;
    this.#presentKey = names[names.length - 2]!;
    this.#question = JSON.stringify([ask.calls, ask.isPartial, ask.amount, ask.rules, ask.isHead]);
  }

  /** What the same request was answered; undefined where it is to be decided. */
  answered(headKey: string, nowMs: number): Reply | undefined {
    const known = this.#get<Recorded>(this.#key, "question");
    const present = this.#get<Present>(this.#presentKey, "present")?.present;
    if (known === undefined || known.present !== present) return undefined;
    if (known.question !== this.#question)
      throw refusal("MISMATCH", "the request was granted before: at another cost, or by other policies");
    const head = Object(this.#keys.get(headKey)) as Partial<State>;
    return (head.blockedUntilMs ?? 0) > nowMs ? undefined : known.reply;
  }

  remember(reply: Reply, token: string, nowMs: number): void {
    const known = this.#get<Present>(this.#presentKey, "present");
    const endsMs = nowMs + law.requestLifeMs;
    const present = known?.present ?? `${nowMs} ${token}`;
    const expireAtMs = Math.max(known?.expireAtMs ?? 0, endsMs);
    this.#keys.set(this.#presentKey, { present, expireAtMs }, BYTES.present, expireAtMs);
    const record: Recorded = { present, question: this.#question, reply };
    this.#keys.set(
      this.#key,
      record,
      BYTES.record + this.#question.length + BYTES.policy * reply.policies.length,
      endsMs,
    );
  }

  #get<T extends object>(key: string, has: keyof T): T | undefined {
    const value = this.#keys.get(key);
    if (value === undefined) return undefined;
    if (!(has in Object(value))) throw corruptError(key, "no request of a limiter");
    return value as T;
  }
}
