import { argumentError, checkKnown } from "../errors.ts";
import { placed } from "../place.ts";
import { parseIpv4, parseIpv6 } from "./ip-address.ts";

export interface ClientKeyOptions {
  /** Bits of an IPv6 address that make one client, from 32 to 128. Default 64: one network, which one host owns. */
  ipv6Prefix?: number | undefined;
}

/**
 * The limiter's id of a client's address: an IPv4 address whole, an IPv6 address cut to its network
 * ("2001:db8:1:2::/64"), since one client has all addresses of it. IPv4 written as IPv6 is IPv4: mapped
 * ("::ffff:203.0.113.7"), translated ("::ffff:0:203.0.113.7", "64:ff9b::203.0.113.7"), and 6to4 ("2002:cb00:7107::1"). A
 * zone ("%eth0") is left out; every spelling of an address gives one id.
 *
 * Whether X-Forwarded-For is to be trusted is for the caller (the framework) to say: give the client's address.
 * Throws ARGUMENT for what is no address; a port or brackets are none of it.
 */
export function clientKey(ip: string, options: ClientKeyOptions = {}): string {
  return placed("clientKey", () => {
    checkKnown(options, ["ipv6Prefix"]);
    const key = addressKey(ip, options.ipv6Prefix);
    if (key === undefined) throw argumentError("ip", ip, "an IPv4 or IPv6 address, without port or brackets");
    return key;
  });
}

/** The same; undefined for text that is no address. Throws ARGUMENT for what is no text. */
export function addressKey(ip: unknown, ipv6Prefix = 64): string | undefined {
  const prefix = checkPrefix(ipv6Prefix);
  if (typeof ip !== "string") throw argumentError("ip", ip, "an IPv4 or IPv6 address");
  const ipv4 = parseIpv4(ip);
  if (ipv4 !== undefined) return ipv4.join(".");
  const groups = parseIpv6(ip);
  if (groups === undefined) return undefined;
  return ipv4Within(groups)?.join(".") ?? `${network(groups, prefix)}/${prefix}`;
}

/** What the first groups of an address are where an IPv4 address stands in the others. */
const WITH_IPV4: [groups: number[], at: number][] = [
  [[0, 0, 0, 0, 0, 0xffff], 6], // mapped, RFC 4291 2.5.5.2
  [[0, 0, 0, 0, 0xffff, 0], 6], // translated, RFC 2765
  [[0x64, 0xff9b, 0, 0, 0, 0], 6], // NAT64, RFC 6052
  [[0x64, 0xff9b, 1], 6], // NAT64 within a network, RFC 8215, by a prefix of 96 bits as a rule
  [[0x2002], 1], // 6to4, RFC 3056
];

/** The four bytes of the IPv4 address that an IPv6 address stands for; undefined where it stands for itself. */
function ipv4Within(groups: number[]): number[] | undefined {
  const found = WITH_IPV4.find(([first]) => first.every((group, i) => groups[i] === group));
  if (found === undefined) return undefined;
  const [, at] = found;
  return groups.slice(at, at + 2).flatMap((group) => [group >> 8, group & 255]);
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
