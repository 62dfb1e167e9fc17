import type { Script } from "../contract.ts";
import { ServerError } from "./client.ts";

/** Why a server refused to load a script when it was last sent to load. */
export class Refusals {
  readonly #bySha = new Map<string, ServerError>();

  of({ sha }: Script): ServerError | undefined {
    return this.#bySha.get(sha);
  }

  set({ sha }: Script, cause: Error): void {
    this.#bySha.set(sha, new ServerError(cause.message));
  }

  delete({ sha }: Script): void {
    this.#bySha.delete(sha);
  }
}
