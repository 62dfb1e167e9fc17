import type { Script } from "../contract.ts";
import { ServerError } from "./client.ts";

/** For each script that the server refused to load: the error of the last attempt. */
export class LoadErrors {
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
