import { hexOf } from "../../base/hex.ts";

/** 32 hexadecimal digits: twelve random bytes, then zeros in the place of a call's number. */
export function newToken(): string {
  return tokenOfBytes(crypto.getRandomValues(new Uint8Array(12)));
}

/** The token of a request id. Repeated calls have the same token, so each can release the permits. */
export async function requestToken(requestId: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(requestId));
  return tokenOfBytes(new Uint8Array(digest, 0, 12));
}

function tokenOfBytes(bytes: Uint8Array): string {
  return hexOf(bytes) + FIRST;
}

const FIRST = "00000000";
/** In the place of a call's number: lent by this process without the store. No group has this many calls. */
const LOCAL = "ffffffff";

/** The permit of a local decision. The process recognises it. */
export function localPermit(token: string): string {
  return token.slice(0, -LOCAL.length) + LOCAL;
}

/** The token of a permit from a local decision; undefined for a permit from the store. */
export function localTokenOf(permit: string): string | undefined {
  return permit.endsWith(LOCAL) ? permit.slice(0, -LOCAL.length) + FIRST : undefined;
}
