import { BlockList, isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clientKey } from "../../src/entries/http.ts";

describe("clientKey", () => {
  it("keeps an IPv4 address, and maps its IPv6 spellings to it", () => {
    for (const ip of ["203.0.113.7", "::ffff:203.0.113.7", "::FFFF:cb00:7107", "0:0:0:0:0:ffff:cb00:7107"])
      expect(clientKey(ip)).toBe("203.0.113.7");
    expect(clientKey("::203.0.113.7")).toBe("0:0:0:0::/64");
  });

  it.each([
    ["translated", "::ffff:0:203.0.113.7", "::ffff:0:203.0.113.8"],
    ["NAT64", "64:ff9b::203.0.113.7", "64:ff9b::cb00:7108"],
    ["NAT64 within a network", "64:ff9b:1::203.0.113.7", "64:ff9b:1:abcd::203.0.113.8"],
    ["6to4, a network of 48 bits", "2002:cb00:7107::1", "2002:cb00:7108:ffff::1"],
    ["mapped, with a zone", "::ffff:203.0.113.7%eth0", "::ffff:203.0.113.8%eth0"],
  ])("uses the IPv4 address inside: %s", (_what, first, second) => {
    expect([first, second].map((ip) => clientKey(ip))).toEqual(["203.0.113.7", "203.0.113.8"]);
  });

  it.each([
    "64:ff9b:2::203.0.113.7",
    "64:ff9c::203.0.113.7",
    "::ffff:1:203.0.113.7",
    "::1:0:203.0.113.7",
    "2003:cb00:7107::1",
  ])("does not map other networks to IPv4: %s", (ip) => expect(clientKey(ip)).toMatch(/::\/64$/));

  it("cuts an IPv6 address to its network in any spelling", () => {
    for (const ip of ["2001:db8:1:2::1", "2001:0DB8:0001:0002:ffff:ffff:ffff:ffff", "2001:db8:1:2::5%eth0"])
      expect(clientKey(ip)).toBe("2001:db8:1:2::/64");
    expect(clientKey("2001:db8:1:2fff::1", { ipv6Prefix: 56 })).toBe("2001:db8:1:2f00::/56");
    expect(clientKey("2001:db8:ffff::1", { ipv6Prefix: 32 })).toBe("2001:db8::/32");
    expect(clientKey("fe80::1%3", { ipv6Prefix: 128 })).toBe("fe80:0:0:0:0:0:0:1/128");
  });

  it("ignores a port, brackets and spaces around", () => {
    for (const ip of [
      "203.0.113.7:80",
      "[203.0.113.7]",
      " 203.0.113.7 ",
      "::ffff:203.0.113.7:80",
      "[::ffff:cb00:7107]:1",
    ])
      expect(clientKey(ip), ip).toBe("203.0.113.7");
    for (const ip of ["[2001:db8::1]", "[2001:db8::1]:443", "[2001:db8::1%eth0]:443"])
      expect(clientKey(ip), ip).toBe("2001:db8:0:0::/64");
  });

  it("has one id for text that is no address, and one for none", () => {
    const bad = ["localhost", "1.2.3", "01.2.3.4", "1.2.3.256", ":::", "::1::", "1::2%", "1:2:3:4::5:6:7:8"];
    bad.push("203.0.113.7, 10.0.0.1", "[]", "[::1", "::1]:80", "203.0.113.7:http", "x".repeat(50_000));
    for (const ip of bad) expect(clientKey(ip), ip).toBe("malformed address");
    for (const ip of ["", undefined, null]) expect(clientKey(ip)).toBe("no address");
    for (const ip of [7, {}, ["203.0.113.7"]])
      expect(() => clientKey(ip as never)).toThrow(/^clientKey: ip is .* must be a client's address/);
    for (const ipv6Prefix of [31, 129, 64.5, Number.NaN])
      expect(() => clientKey("::1", { ipv6Prefix })).toThrow("from 32 to 128");
  });

  it("accepts the same addresses as Node", () => {
    const group = fc.oneof(
      fc.nat(0xffff).map((n) => n.toString(16)),
      fc.constantFrom("", "", "0", "00ff", "12345", "g"),
    );
    const nearlyV6 = fc.tuple(
      fc.array(group, { maxLength: 9 }),
      fc.constantFrom("", ":1.2.3.4", "1.2.3.4", ":1.2.3.999"),
    );
    const nearlyV4 = fc.array(fc.oneof(fc.nat(300).map(String), fc.constantFrom("", "01", "-1")), { maxLength: 5 });
    const text = fc.oneof(
      fc.ipV6(),
      fc.ipV4(),
      nearlyV6.map(([groups, end]) => groups.join(":") + end),
      nearlyV4.map((parts) => parts.join(".")),
    );
    const takes = (ip: string) => !["malformed address", "no address"].includes(clientKey(ip));
    fc.assert(
      fc.property(text, (ip) => {
        expect(takes(ip)).toBe(isIPv4(ip) || isIPv6(ip));
      }),
      { numRuns: 2000 },
    );
  });

  it("maps two addresses to one key exactly if Node says that they share the network", () => {
    const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, fc.nat(127), fc.integer({ min: 32, max: 128 }), (parts, flippedBit, ipv6Prefix) => {
        const first = parts.map((part) => part.toString(16)).join(":");
        const other = parts.map((part, i) => (i === flippedBit >> 4 ? part ^ (0x8000 >> (flippedBit & 15)) : part));
        const second = other.map((part) => part.toString(16)).join(":");
        fc.pre(![first, second].some((ip) => /^(0:0:0:0:|64:ff9b:|2002:)/.test(ip)));
        const network = new BlockList();
        const key = clientKey(first, { ipv6Prefix });
        network.addSubnet(key.split("/")[0]!, ipv6Prefix, "ipv6");
        expect(network.check(first, "ipv6")).toBe(true);
        expect(clientKey(second, { ipv6Prefix }) === key).toBe(network.check(second, "ipv6"));
      }),
    );
  });
});
