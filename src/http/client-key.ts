import { argumentError } from "../base/errors.ts";
import { settingsOf } from "../base/options.ts";
import { atSite } from "../base/site.ts";
import { MALFORMED_ADDRESS, NO_ADDRESS, warnOnce } from "./client-id.ts";

/** Options of `clientKey`. */
export interface ClientKeyOptions {
  /**
   * Prefix length of an IPv6 address that counts as one client, 32 to 128 bits. Default 64: the network of one host.
   */
  ipv6Prefix?: number | undefined;
}

export const IPV6_PREFIX = [prefixOf, 64] as const;

/**
 * Returns the limiter's id for a client's address. An IPv4 address stays whole. An IPv6 address is cut to its network
 * ("2001:db8:1:2::/64"), because one client owns all its addresses. An IPv4 address in IPv6 form counts as IPv4: mapped
 * ("::ffff:203.0.113.7"), translated ("::ffff:0:203.0.113.7", "64:ff9b::203.0.113.7") and 6to4 ("2002:cb00:7107::1"). A
 * zone ("%eth0"), a port and brackets are ignored. All spellings of an address have the same id.
 *
 * The caller (the framework) decides whether to trust X-Forwarded-For, and passes the client's address. It may come from
 * a header, so no text is an error: all other text has one id, and so has an absent address (undefined, null, ""). The
 * process is warned once of each. Throws ARGUMENT for other types.
 */
export function clientKey(ip: string | null | undefined, options: ClientKeyOptions = {}): string {
  return atSite("clientKey", () => {
    const { ipv6Prefix } = settingsOf({ ipv6Prefix: IPV6_PREFIX }, options);
    if (typeof ip !== "string" && ip !== undefined && ip !== null)
      throw argumentError("ip", ip, "a client's address, or undefined without one");
    return clientOf("clientKey", ip, ipv6Prefix);
  });
}

/** Same as `clientKey`, with the name for the warning and for all values. */
export function clientOf(name: string, address: unknown, prefix: number): string {
  if (typeof address !== "string" || address === "") {
    warnOnce(name, "a request has no client address");
    return NO_ADDRESS;
  }
  const [, bracketed, dotted] = /^\s*(?:\[([^\]]*)\](?::\d+)?|(\S*\.\d+):\d+)\s*$/.exec(address) ?? [];
  const client = addressKey(bracketed ?? dotted ?? address.trim(), prefix);
  if (client === undefined) warnOnce(name, `${JSON.stringify(address.slice(0, 100))} is no client address`);
  return client ?? MALFORMED_ADDRESS;
}

/** Undefined for text that is not an address. */
function addressKey(ip: string, prefix: number): string | undefined {
  const ipv4 = parseIpv4(ip);
  if (ipv4 !== undefined) return ipv4.join(".");
  const groups = parseIpv6(ip);
  if (groups === undefined) return undefined;
  return ipv4Within(groups)?.join(".") ?? `${network(groups, prefix)}/${prefix}`;
}

/** The first groups of IPv6 addresses that contain an IPv4 address, and the group where it begins. */
const WITH_IPV4: [groups: number[], at: number][] = [
  [[0, 0, 0, 0, 0, 0xffff], 6], // mapped, RFC 4291 2.5.5.2
  [[0, 0, 0, 0, 0xffff, 0], 6], // translated, RFC 2765
  [[0x64, 0xff9b, 0, 0, 0, 0], 6], // NAT64, RFC 6052
  [[0x64, 0xff9b, 1], 6], // NAT64 within a network, RFC 8215, usually with a prefix of 96 bits
  [[0x2002], 1], // 6to4, RFC 3056
];

/** The four bytes of the IPv4 address inside an IPv6 address; undefined without one. */
function ipv4Within(groups: number[]): number[] | undefined {
  const found = WITH_IPV4.find(([first]) => first.every((group, i) => groups[i] === group));
  if (found === undefined) return undefined;
  const [, at] = found;
  return groups.slice(at, at + 2).flatMap((group) => [group >> 8, group & 255]);
}

function prefixOf(argument: string, prefix: number): number {
  if (!Number.isInteger(prefix) || prefix < 32 || prefix > 128)
    throw argumentError(argument, prefix, "a whole number of bits from 32 to 128");
  return prefix;
}

/** The groups up to the end of the prefix, with later bits 0, and "::" for the rest. */
function network(groups: number[], prefix: number): string {
  const kept = groups.slice(0, Math.ceil(prefix / 16));
  const lastBits = prefix - 16 * (kept.length - 1);
  kept.push(kept.pop()! & (0xffff << (16 - lastBits)));
  const text = kept.map((group) => group.toString(16)).join(":");
  return kept.length < 8 ? `${text}::` : text;
}

/** The four bytes of an IPv4 address in dotted decimals. Undefined for other text, and for leading zeros. */
function parseIpv4(text: string): number[] | undefined {
  const parts = text.split(".");
  const valid = parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
  return valid ? parts.map(Number) : undefined;
}

/** The eight groups of an IPv6 address (RFC 4291, 2.2), without its zone. Undefined for other text. */
function parseIpv6(text: string): number[] | undefined {
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
