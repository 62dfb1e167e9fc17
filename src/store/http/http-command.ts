import { deferred } from "../../base/async/deferred.ts";
import { endsWithRequest } from "../../base/async/of-request.ts";
import { hexOf } from "../../base/hex.ts";
import type { Argument, Script } from "../contract.ts";
import { type Attempt, ServerError } from "../delivery/client.ts";
import { asciiArguments, asciiText, wellFormed } from "./ascii.ts";
import { NotRun } from "./http-answer.ts";

/**
 * The SHA-1 of each script in its form for ASCII arguments, and in the same with the flag `allow-key-locking`. It is empty while it
 * is computed. Other requests do not wait for it, because a Worker's may not, and send the text.
 */
const shas = [new WeakMap<Script, string>(), new WeakMap<Script, string>()] as const;

/** One command: it waits, is sent in a request, and is settled once, unless it is abandoned. */
export class HttpCommand implements Attempt {
  readonly #words: string;
  readonly #script: Script | undefined;
  readonly #isWhole: boolean;
  readonly #isLocking: boolean;
  readonly #outcome = deferred<unknown[]>();
  #isOpen = true;
  #mayHaveArrived = false;
  readonly #onEnd: (() => void)[] = [];

  /**
   * `words` is JSON without its brackets. A script's words follow its name. `isWhole`: the script's text is sent too.
   * `isLocking`: with the flag `allow-key-locking`.
   */
  private constructor(words: string, script?: Script, isWhole = false, isLocking = false) {
    this.#words = words;
    this.#script = script;
    this.#isWhole = isWhole;
    this.#isLocking = isLocking;
    this.reply.catch(() => {});
  }

  static of(...words: string[]): HttpCommand {
    return new HttpCommand(JSON.stringify(words).slice(1, -1));
  }

  static ofScript(
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
    isWhole: boolean,
    isLocking: boolean,
  ): HttpCommand {
    const words = [String(keys.length), ...keys.map(wellFormed), ...asciiArguments(args)];
    // A page that is not secure can compute no SHA-1, so each call has the text.
    return new HttpCommand(JSON.stringify(words).slice(1, -1), script, isWhole || !crypto.subtle, isLocking);
  }

  /** Computes the SHA-1 of its script, or has no result if another command did. Never rejects. */
  learn(): Promise<void> | undefined {
    const known = shas[+this.#isLocking]!;
    const script = this.#script;
    if (!script || !crypto.subtle) return undefined;
    // In Workers a computation ends with its request, so another one begins its own.
    if (endsWithRequest ? known.get(script) : known.has(script)) return undefined;
    known.set(script, "");
    const text = new TextEncoder().encode(asciiText(script.text, this.#isLocking));
    return crypto.subtle.digest("SHA-1", text).then(
      (bytes) => void known.set(script, hexOf(new Uint8Array(bytes))),
      () => void known.delete(script),
    );
  }

  get reply(): Promise<unknown[]> {
    return this.#outcome.promise;
  }
  get isOpen(): boolean {
    return this.#isOpen;
  }
  get sizeBytes(): number {
    return this.#words.length + 60 + (this.#isWhole ? this.#script!.text.length : 0);
  }

  /** Returns its JSON. `sent` has the SHA-1 of the scripts whose text is earlier in the same request. */
  write(sent: Set<string>): string {
    const script = this.#script;
    if (!script) return `[${this.#words}]`;
    const sha = shas[+this.#isLocking]!.get(script);
    if (sha && (!this.#isWhole || sent.has(sha))) return `["EVALSHA","${sha}",${this.#words}]`;
    if (sha) sent.add(sha);
    return `["EVAL",${JSON.stringify(asciiText(script.text, this.#isLocking))},${this.#words}]`;
  }

  /** Called when its request is sent and may reach the server. */
  begin(): void {
    this.#mayHaveArrived = true;
  }

  settle(reply: unknown): void {
    if (!this.#isOpen) return;
    if (reply instanceof Error) {
      if (reply instanceof ServerError || reply instanceof NotRun) this.#mayHaveArrived = false;
      this.#outcome.reject(reply);
    } else this.#outcome.resolve(reply as unknown[]);
    this.#end();
  }

  mayHaveArrived(): boolean {
    return this.#mayHaveArrived;
  }

  abandon(): void {
    if (this.#isOpen) this.#end();
  }

  /** Calls `listener` when it is settled or abandoned. */
  whenEnded(listener: () => void): void {
    this.#onEnd.push(listener);
  }

  #end(): void {
    this.#isOpen = false;
    for (const listener of this.#onEnd) listener();
  }
}
