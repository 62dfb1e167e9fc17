import { hexOf } from "../../../base/hex.ts";

const COOKIE = "oriel_dashboard";
const CSRF_COOKIE = "oriel_dashboard_form";
const TEXT = new TextEncoder();

/** Where a browser sends a cookie to. */
export interface CookieScope {
  readonly path: string;
  /** Over https only. */
  readonly isSecure: boolean;
}

/**
 * Recognises who knows the token. The cookie of a session is a code made with the token, so it is valid in every process
 * that has the same token, and the token itself is not kept in the browser.
 */
export class Sessions {
  readonly #token: string | undefined;
  #cookie: Promise<string> | undefined;

  constructor(token: string | undefined) {
    this.#token = token;
  }

  /** Whether the request has the cookie of a session. True without a token. */
  async isOpen(request: Request): Promise<boolean> {
    if (this.#token === undefined) return true;
    return isSame(cookieOf(request, COOKIE) ?? "", await this.#value());
  }

  /** The fields of a response that open a session, if `given` is the token; else undefined. */
  async open(given: string, scope: CookieScope): Promise<string | undefined> {
    if (this.#token === undefined || !(await isSame(given, this.#token))) return undefined;
    return setCookie(COOKIE, await this.#value(), scope);
  }

  #value(): Promise<string> {
    this.#cookie ??= codeOf(this.#token!, "oriel dashboard");
    return this.#cookie;
  }
}

/** The secret of a browser that actions must repeat in a header, and the cookie that sets it if the browser has none. */
export function formSecret(request: Request, scope: CookieScope): { secret: string; cookie: string | undefined } {
  const known = cookieOf(request, CSRF_COOKIE);
  if (known !== undefined && /^[0-9a-f]{32}$/.test(known)) return { secret: known, cookie: undefined };
  const secret = hexOf(crypto.getRandomValues(new Uint8Array(16)));
  return { secret, cookie: setCookie(CSRF_COOKIE, secret, scope) };
}

/**
 * Whether a request was made by the dashboard's own page. Another site's page can neither read the secret nor set the
 * header, and a browser names the place where the request comes from.
 */
export async function isOwnPage(request: Request): Promise<boolean> {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") return false;
  const origin = request.headers.get("origin");
  if (origin !== null && hostOf(origin) !== new URL(request.url).host) return false;
  const secret = cookieOf(request, CSRF_COOKIE);
  const given = request.headers.get("x-oriel-form");
  return secret !== undefined && given !== null && isSame(given, secret);
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined; // "null", from a sandboxed page
  }
}

function setCookie(name: string, value: string, { path, isSecure }: CookieScope): string {
  return `${name}=${value}; Path=${path}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
}

function cookieOf(request: Request, name: string): string | undefined {
  const cookies = (request.headers.get("cookie") ?? "").split(/; */);
  return cookies.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Compares digests, which takes the same time whatever the texts have in common. */
async function isSame(a: string, b: string): Promise<boolean> {
  const [left, right] = await Promise.all([digestOf(a), digestOf(b)]);
  let difference = 0;
  for (let i = 0; i < left.length; i++) difference |= left[i]! ^ right[i]!;
  return difference === 0;
}

async function digestOf(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", TEXT.encode(text)));
}

async function codeOf(token: string, purpose: string): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", TEXT.encode(token), algorithm, false, ["sign"]);
  return hexOf(new Uint8Array(await crypto.subtle.sign("HMAC", key, TEXT.encode(purpose))));
}
