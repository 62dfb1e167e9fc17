const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/** Whether a host name, with or without a port, is one of this machine alone. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Whether a request's host is in the list. A name in the list without a port allows every port. */
export function isAllowedHost({ hostname, port }: URL, isSecure: boolean, allowed: readonly string[]): boolean {
  const usedPort = port || (isSecure ? "443" : "80"); // a URL leaves out the usual port
  return allowed.includes(hostname) || allowed.includes(`${hostname}:${usedPort}`);
}
