import { hexOf } from "../../base/hex.ts";
/** Ids of users and messages, as pages see them. */
export class Ids {
  readonly #isMasked: boolean;
  #secret: ReturnType<typeof newSecret> | undefined;

  constructor(isMasked: boolean) {
    this.#isMasked = isMasked;
  }

  /** The id, or under `maskIds` its first and last character, or less. */
  shown(id: string): string {
    if (!this.#isMasked) return id;
    const characters = [...id];
    return characters.length < 4 ? "…" : `${characters[0]}…${characters.at(-1)}`;
  }

  /**
   * A text that no other id has: the id, or under `maskIds` a code made with a secret of this process. Without the secret
   * nobody can try ids until one has this code.
   */
  async keyOf(id: string): Promise<string> {
    if (!this.#isMasked) return id;
    this.#secret ??= newSecret();
    const code = await crypto.subtle.sign("HMAC", await this.#secret, new TextEncoder().encode(id));
    return hexOf(new Uint8Array(code, 0, 16));
  }
}

function newSecret() {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}
