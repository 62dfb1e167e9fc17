import type { Script } from "../contract.ts";
import { ServerError } from "../delivery/client.ts";
import { type Scripting, withoutFirstLine } from "./scripting.ts";

/**
 * The refusal of a first line #!lua by Dragonfly, which wraps each script in a function. Redis 6 refuses it in line 1. It
 * lacks commands of the steps.
 */
export const FIRST_LINE_REFUSED = /:2: unexpected symbol near '#'/;

/** How a store's scripts are loaded, and for each script that the server refused to load the error of the last attempt. */
export class Loads {
  readonly #refusals = new Map<Script, ServerError>();
  #scripting: Scripting;
  #hasFirstLine = true;

  constructor(scripting: Scripting) {
    this.#scripting = scripting;
  }

  get scripting(): Scripting {
    return this.#scripting;
  }

  /** Sends the command that loads a script. `failed` is called if it is not loaded. */
  load(
    script: Script,
    send: (words: string[]) => Promise<unknown>,
    isRefusal: (error: Error) => boolean,
    failed: () => void,
  ): void {
    const scripting = this.#scripting;
    this.#refusals.delete(script);
    send(scripting.loading(script)).then(
      (reply) => scripting.onLoaded?.(script, reply),
      (error: Error) => {
        failed();
        if (isRefusal(error)) this.#refusals.set(script, new ServerError(error.message));
      },
    );
  }

  /** Why the server did not load a script, unless it may load it in another form. The next attempt uses that form. */
  refusalOf(script: Script): ServerError | undefined {
    const refusal = this.#refusals.get(script);
    if (!refusal || !FIRST_LINE_REFUSED.test(refusal.message)) return refusal;
    if (this.#hasFirstLine) this.#scripting = withoutFirstLine();
    this.#hasFirstLine = false;
    return undefined;
  }
}
