import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkPrefix, keyOf, slotOf } from "../../src/store/keys.ts";

const name = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.string({ unit: fc.constantFrom("%", "{", "}", "2", "5", "7", "B", "D", "a"), maxLength: 8 }),
);

describe("keyOf", () => {
  test("returns names unchanged", () => {
    expect(keyOf("oriel:", "api:latency")).toBe("oriel:{api:latency}");
    expect(keyOf("oriel:", "")).toBe("oriel:{%}");
    expect(keyOf("", "%{}")).toBe("{%25%7B%7D}");
  });

  test("different names have different keys, and no key is a prefix of another's numbered ones", () => {
    fc.assert(
      fc.property(name, name, (a, b) => {
        fc.pre(a !== b);
        expect(keyOf("p:", a)).not.toBe(keyOf("p:", b));
        expect(keyOf("p:", a).startsWith(keyOf("p:", b))).toBe(false);
      }),
    );
  });

  test("all keys with the same prefix lie in one slot", () => {
    fc.assert(
      fc.property(name, fc.string({ maxLength: 9 }), (text, suffix) => {
        const key = keyOf("p:", text);
        expect(slotOf(`${key}:${suffix}`)).toBe(slotOf(key));
      }),
    );
  });

  test("refuses lone surrogates, more than 10 240 bytes and values that are no string", () => {
    for (const wrong of ["\ud800", "a\udc00b", "x".repeat(10_241), "ä".repeat(5121), 1, null, undefined, {}])
      expect(() => keyOf("", wrong as string)).toThrowError(expect.objectContaining({ code: "ARGUMENT" }));
    for (const good of ["x".repeat(10_240), "ä".repeat(5120), "𝄞"]) expect(keyOf("", good)).toBe(`{${good}}`);
  });

  test("refuses braces in a prefix", () => {
    for (const wrong of ["{", "a}", "\udc00", 5]) expect(() => checkPrefix(wrong)).toThrowError(/prefix/);
    expect(checkPrefix("")).toBe("");
  });
});

test("slots follow the Redis Cluster specification", () => {
  // The first is the check value of CRC-16/XMODEM, 0x31C3; the others are what CLUSTER KEYSLOT answers.
  expect(slotOf("123456789")).toBe(0x31c3);
  for (const [key, slot] of [
    ["", 0],
    ["foo", 12_182],
    ["bar", 5061],
    ["{user1000}.following", 3443],
    ["{user1000}.followers", 3443],
    ["foo{}{bar}", 8363],
    ["foo{{bar}}zap", 4015],
    ["foo{bar}{zap}", 5061],
  ] as const)
    expect(slotOf(key)).toBe(slot);
});
