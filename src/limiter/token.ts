/** 32 hexadecimal digits: twelve random bytes, and zeros where the calls of a group have their number. */
export function newToken(): string {
  return tokenOfBytes(crypto.getRandomValues(new Uint8Array(12)));
}

/** The token of a request: the same for whoever repeats it, so that each may give back what it lent. */
export async function requestToken(requestId: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(requestId));
  return tokenOfBytes(new Uint8Array(digest, 0, 12));
}

function tokenOfBytes(bytes: Uint8Array): string {
  return `${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}${FIRST}`;
}

const FIRST = "00000000";
/** In the place of a call's number: lent by this process itself. No group has so many calls. */
const LOCAL = "ffffffff";

/** The permit by which a process knows again what it has lent without the store. */
export function localPermit(token: string): string {
  return token.slice(0, -LOCAL.length) + LOCAL;
}

/** The token that it was lent under; undefined for what the store has lent. */
export function localTokenOf(permit: string): string | undefined {
  return permit.endsWith(LOCAL) ? permit.slice(0, -LOCAL.length) + FIRST : undefined;
}
