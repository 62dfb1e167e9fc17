import { argumentError, OrielError } from "../base/errors.ts";

const ALLOWED = "redis://user:password@host:port/database, rediss://… for TLS, or the path of a unix socket";

/** Throws ARGUMENT, with nothing of the URL but its scheme: all else may be a password, or part of one. */
export function checkRedisUrl(argument: string, url: unknown): asserts url is string {
  if (typeof url !== "string") throw argumentError(argument, url, ALLOWED);
  if (/^\/./.test(url)) return;
  const fault = faultOf(url);
  if (fault !== undefined) throw new OrielError("ARGUMENT", `${argument} ${fault}; it must be ${ALLOWED}`);
}

function faultOf(url: string): string | undefined {
  if (url === "") return "is empty";
  if (/^\s|\s$/.test(url)) return "begins or ends with a blank";
  const scheme = /^([a-z][a-z0-9+.-]{0,20}):\/\//i.exec(url)?.[1];
  if (scheme === undefined) return "has no scheme";
  if (scheme !== "redis" && scheme !== "rediss") return `has the scheme ${scheme}://`;
  if (!URL.canParse(url))
    return "is no URL (in a user name or password, percent-encode what is no letter or digit: encodeURIComponent)";
  const { pathname, username, password } = new URL(url);
  if (!isEncoded(username + password))
    return "has a % without two hexadecimal digits of UTF-8 in its user name or password (write %25: encodeURIComponent)";
  if (!/^\/?\d*$/.test(pathname)) return "has a path that is no number of a database";
  return undefined;
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
