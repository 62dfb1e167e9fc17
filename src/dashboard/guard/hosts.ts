const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/** Whether a host name, with or without a port, is one of this machine alone. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Whether a request's host is in the list. A name in the list without a port allows every port. */
export function isAllowedHost(host: string, allowed: readonly string[]): boolean {
  const name = host.toLowerCase();
  return allowed.includes(name) || allowed.includes(name.replace(/:\d+$/, ""));
}
