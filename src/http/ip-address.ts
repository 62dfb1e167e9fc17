/** The four bytes of an IPv4 address in dotted decimals. Undefined for other text, and for leading zeros. */
export function parseIpv4(text: string): number[] | undefined {
  const parts = text.split(".");
  const valid = parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
  return valid ? parts.map(Number) : undefined;
}

/** The eight groups of an IPv6 address (RFC 4291, 2.2), without its zone. Undefined for other text. */
export function parseIpv6(text: string): number[] | undefined {
  const [address = "", zone, ...more] = text.split("%");
  if (more.length > 0 || zone === "") return undefined;
  const halves = address.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, index) => groupsOf(half, index === halves.length - 1));
  if (head === undefined) return undefined;
  if (halves.length === 1) return head.length === 8 ? head : undefined;
  // "::" stands for at least one group.
  if (tail === undefined || head.length + tail.length > 7) return undefined;
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

/** The groups between colons. At the end of an address, an IPv4 address may stand for the last two. */
function groupsOf(text: string, last: boolean): number[] | undefined {
  if (text === "") return [];
  const parts = text.split(":");
  const ipv4 = last && parts.at(-1)?.includes(".") ? parseIpv4(parts.pop()!) : [];
  if (ipv4 === undefined || !parts.every((part) => /^[\da-f]{1,4}$/i.test(part))) return undefined;
  const groups = parts.map((part) => Number.parseInt(part, 16));
  const [a, b, c, d] = ipv4;
  return d === undefined ? groups : [...groups, a! * 256 + b!, c! * 256 + d];
}
