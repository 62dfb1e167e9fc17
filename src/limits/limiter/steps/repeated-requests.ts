import { corruptError } from "../../../base/errors.ts";
import { KIND, REQUEST_LIFE_MS } from "../../../generated/layouts/limiter.ts";
import type { Keyspace } from "../../../store/contract.ts";
import { refusal } from "../../../store/refusal.ts";
import type { DecideReply, DecideRequest } from "./decide.ts";
import type { StoredState } from "./state.ts";

/** The reply to a request. It is valid while its id's generation is the same. */
interface StoredReply {
  generation: string;
  question: string;
  reply: DecideReply;
}

/** Names the present generation of an id's requests. A reset deletes it, and with it all replies. */
interface Generation {
  generation: string;
  expireAtMs: number;
}

const BYTES = { generation: 130, reply: 260, policy: 130 };

/** Replies to requests with a `requestId`, of one id. The twin of lua/limiter/repeated-requests.lua. */
export class RepeatedRequests {
  readonly #keys: Keyspace;
  readonly #replyKey: string;
  readonly #generationKey: string;
  readonly #question: string;

  /** `names`: all keys of the step. The last two are those of the generation and of the reply. */
  constructor(keys: Keyspace, names: readonly string[], request: DecideRequest) {
    const { calls, isPartial, amount, rules, isHead } = request;
    this.#keys = keys;
    this.#replyKey = names[names.length - 1]!;
    this.#generationKey = names[names.length - 2]!;
    const asked = rules.map((rule) => (rule.kind === KIND.calendar ? { ...rule, spanMs: 0, rate: 0 } : rule));
    this.#question = JSON.stringify([calls, isPartial, amount, asked, isHead]);
  }

  /** The reply to the same request; undefined if the request must be decided. Throws MISMATCH for another question. */
  replied(headKey: string, nowMs: number): DecideReply | undefined {
    const stored = this.#get<StoredReply>(this.#replyKey, "question");
    const generation = this.#get<Generation>(this.#generationKey, "generation")?.generation;
    if (stored === undefined || stored.generation !== generation) return undefined;
    if (stored.question !== this.#question)
      throw refusal("MISMATCH", "the request was granted before with another cost or other policies");
    const head = Object(this.#keys.get(headKey)) as Partial<StoredState>;
    return (head.blockedUntilMs ?? 0) > nowMs ? undefined : stored.reply;
  }

  remember(reply: DecideReply, token: string, nowMs: number): void {
    const known = this.#get<Generation>(this.#generationKey, "generation");
    const endMs = nowMs + REQUEST_LIFE_MS;
    const generation = known?.generation ?? `${nowMs} ${token}`;
    const expireAtMs = Math.max(known?.expireAtMs ?? 0, endMs);
    this.#keys.set(this.#generationKey, { generation, expireAtMs }, BYTES.generation, expireAtMs);
    const stored: StoredReply = { generation, question: this.#question, reply };
    const sizeBytes = BYTES.reply + this.#question.length + BYTES.policy * reply.policies.length;
    this.#keys.set(this.#replyKey, stored, sizeBytes, endMs);
  }

  #get<T extends object>(key: string, field: keyof T): T | undefined {
    const value = this.#keys.get(key);
    if (value === undefined) return undefined;
    if (!(field in Object(value))) throw corruptError(key, "no request of a limiter");
    return value as T;
  }
}
