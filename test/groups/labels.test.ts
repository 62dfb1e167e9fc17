import { describe, expect, test } from "vitest";
import { OwnGroups } from "../../src/engine/groups/labels.ts";

const NAMES = ["route", "method"] as const;
const ownGroups = () =>
  new OwnGroups(
    NAMES,
    10,
    () => true,
    () => {},
  );

class Inherited {
  get route(): string {
    return "/a";
  }
  get method(): string {
    return "GET";
  }
}

describe("a group has one number", () => {
  test("whatever the order of its labels, and whether they are inherited", () => {
    const own = ownGroups();
    const number = own.numberOf({ route: "/a", method: "GET" });
    expect(own.values[number]).toEqual(["/a", "GET"]);
    expect(own.numberOf({ method: "GET", route: "/a" })).toBe(number);
    expect(own.numberOf(Object.create({ route: "/a", method: "GET" }))).toBe(number);
    expect(own.numberOf(new Inherited() as never)).toBe(number);
    expect(own.numberOf({ route: "GET", method: "/a" })).not.toBe(number);
    expect(own.values).toHaveLength(3);
  });

  test.each([
    ["one is missing", { route: "/a" }],
    ["one is not declared", { route: "/a", method: "GET", status: "200" }],
    ["another one comes first", { status: "200", route: "/a", method: "GET" }],
    ["one is no text", { route: "/a", method: 1 }],
    ["there are none", {}],
    ["they are undefined", undefined],
    ["they are null", null],
    ["they are a text", "GET"],
  ])("and labels are refused if %s, also of a known group", (_, labels) => {
    const own = ownGroups();
    own.numberOf({ route: "/a", method: "GET" });
    expect(() => own.numberOf(labels as never)).toThrow(expect.objectContaining({ code: "ARGUMENT" }));
    expect(own.values).toHaveLength(2);
  });
});
