import type { upkeep } from "./upkeep.ts";

export type Upkeep = typeof upkeep;

let given: Upkeep | undefined;

/**
 * Provides the upkeep of series, and returns `user`. Entries for processes that stay call it, and mark the call as pure. So a bundle
 * without `user`, and each bundle for Cloudflare Workers, has no code that seals, packs or indexes.
 */
export function withUpkeep<User>(user: User, offered: Upkeep | undefined): User {
  given ??= offered;
  return user;
}

export function givenUpkeep(): Upkeep | undefined {
  return given;
}
