import { OrielError } from "../../base/errors.ts";
import type { Site } from "../../base/site.ts";
import { warn } from "../../base/warn.ts";

/** A message whose handler runs in this process. */
export interface OwnMessage {
  readonly id: string;
  /** The first call that named it and changed nothing. */
  refused: "add" | "reschedule" | undefined;
  isDone: boolean;
}

/**
 * The messages of a queue whose handlers run in this process. A handler that adds or reschedules its own message changes
 * nothing, since the message is still claimed, and then it is done: a poll would stop in silence. So the process is
 * warned, once for each queue. A listener of `completed` that adds the message while its id is known is found too.
 */
export class OwnMessages {
  readonly #at: Site;
  readonly #byId = new Map<string, OwnMessage>();
  #hasWarned = false;

  /** `at`: the site of the queue. */
  constructor(at: Site) {
    this.#at = at;
  }

  get(id: string): OwnMessage | undefined {
    return this.#byId.get(id);
  }

  begin(id: string): OwnMessage {
    const own: OwnMessage = { id, refused: undefined, isDone: false };
    this.#byId.set(id, own);
    return own;
  }

  /** The outcome of its delivery is known, and the listeners were called. */
  end(own: OwnMessage, isDone: boolean): void {
    if (this.#byId.get(own.id) === own) this.#byId.delete(own.id);
    own.isDone = isDone;
    if (isDone && own.refused) this.#warn(own.id, own.refused);
  }

  /** A call named the message, which was in its handler then, and changed nothing. */
  refuse(own: OwnMessage, operation: "add" | "reschedule"): void {
    own.refused ??= operation;
    if (own.isDone) this.#warn(own.id, operation);
  }

  #warn(id: string, operation: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const text =
      `the message ${JSON.stringify(id)} was in its handler, so this call changed nothing, and it is done now; ` +
      "call job.again({ delay }) in a handler whose message is to come again";
    const error = this.#at.error(operation, new OrielError("ARGUMENT", text)) as OrielError;
    warn(error.message);
  }
}
