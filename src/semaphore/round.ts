import { deferred } from "../async/deferred.ts";
import { OrielError } from "../errors.ts";
import type { Refusal } from "./steps.ts";

/**
 * The answers of all servers to one request. It is decided as soon as the majority has answered alike, so a slow or dead
 * minority delays nobody.
 */
export class Round {
  readonly #servers: number;
  readonly #decided = deferred();
  readonly #errors: { error: OrielError; address: string | undefined }[] = [];
  #yes = 0;
  #no = 0;
  readonly #refusals: Refusal[] = [];

  constructor(servers: number) {
    this.#servers = servers;
  }

  /** True if several servers decide. */
  get isShared(): boolean {
    return this.#servers > 1;
  }

  get #majority(): number {
    return Math.floor(this.#servers / 2) + 1;
  }

  /** Undefined while servers may still decide, and after too many have failed. */
  get verdict(): "yes" | "no" | undefined {
    if (this.#yes >= this.#majority) return "yes";
    return this.#no > this.#servers - this.#majority ? "no" : undefined;
  }

  /** The answers of the servers that refused. */
  get refusals(): readonly Refusal[] {
    return this.#refusals;
  }

  refuse(refusal: Refusal): void {
    this.#refusals.push(refusal);
  }

  /** Counts a server's answer. Resolves with 1 for yes, else 0, and with 0 if the others have decided before. */
  async count(answer: Promise<boolean>, address?: string): Promise<0 | 1> {
    const counted = answer.then(
      (isYes) => this.#add(isYes),
      (error) => this.#fail(error, address),
    );
    return Promise.race([counted, this.#decided.promise.then(() => 0 as const)]);
  }

  /** Why the round has no verdict. */
  error(): OrielError {
    if (this.#errors.length === 0) return new OrielError("UNAVAILABLE", "no server was asked", { transient: true });
    const { error } = this.#errors.find((each) => !each.error.transient) ?? this.#errors[0]!;
    if (this.#servers === 1) return error;
    const failures = this.#errors.map(
      (each) => `${OrielError.detailOf(each.error)}${each.address === undefined ? "" : ` (redis at ${each.address})`}`,
    );
    const answered = this.#yes + this.#no;
    const text = `${answered} of ${this.#servers} servers answered, and ${this.#majority} must agree: ${failures.join("; ")}`;
    return new OrielError(error.code, text, { cause: error, transient: error.transient, applied: "unknown" });
  }

  #add(isYes: boolean): 0 | 1 {
    if (isYes) this.#yes++;
    else this.#no++;
    if (this.verdict) this.#decided.resolve();
    return isYes ? 1 : 0;
  }

  #fail(cause: unknown, address: string | undefined): 0 {
    const error =
      cause instanceof OrielError ? cause : new OrielError("CORRUPT", "the answer cannot be read", { cause });
    this.#errors.push({ error, address });
    if (this.#errors.length > this.#servers - this.#majority) this.#decided.resolve();
    return 0;
  }
}
