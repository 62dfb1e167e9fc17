import { argumentError } from "../errors.ts";
import { parseIpv4, parseIpv6 } from "./ip-address.ts";

export interface ClientKeyOptions {
  /** Bits of an IPv6 address that make one client, from 32 to 128. Default 64: one network, which one host owns. */
  ipv6Prefix?: number;
}

/**
 * The limiter's id of a client's address: an IPv4 address whole, an IPv6 address cut to its network
 * ("2001:db8:1:2::/64"), since one client has all addresses of it. IPv4 written as IPv6 ("::ffff:203.0.113.7") is
 * IPv4; a zone ("%eth0") is left out; every spelling of an address gives one id.
 *
 * Whether X-Forwarded-For is to be trusted is for the caller (the framework) to say: give the client's address.
 * Throws ARGUMENT for what is no address; a port or brackets are none of it.
 */
export function clientKey(ip: string, options: ClientKeyOptions = {}): string {
  const prefix = checkPrefix(options.ipv6Prefix ?? 64);
  if (typeof ip !== "string") throw argumentError("ip", ip, "an IPv4 or IPv6 address");
  const ipv4 = parseIpv4(ip);
  if (ipv4 !== undefined) return ipv4.join(".");
  const groups = parseIpv6(ip);
  if (groups === undefined) throw argumentError("ip", ip, "an IPv4 or IPv6 address, without port or brackets");
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff)
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 255])
      .join(".");
  return `${network(groups, prefix)}/${prefix}`;
}

/** An IPv6 prefix length that `clientKey` takes; throws ARGUMENT for any other. */
export function checkPrefix(prefix: number): number {
  if (!Number.isInteger(prefix) || prefix < 32 || prefix > 128)
    throw argumentError("ipv6Prefix", prefix, "a whole number of bits from 32 to 128");
  return prefix;
}

/** The groups that the prefix touches, bits behind it 0; "::" for the rest. */
function network(groups: number[], prefix: number): string {
  const kept = groups.slice(0, Math.ceil(prefix / 16));
  const lastBits = prefix - 16 * (kept.length - 1);
  kept[kept.length - 1] &= 0xffff << (16 - lastBits);
  const text = kept.map((group) => group.toString(16)).join(":");
  return kept.length < 8 ? `${text}::` : text;
}
