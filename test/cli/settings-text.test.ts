import { expect, test } from "vitest";
import { settingsText } from "../../src/operate/kinds/settings-text.ts";

test("a setting of several parts has them in words, with their units", () => {
  const cooldown = { first: 1000, factor: 2, longest: 300_000, jitter: 0 };
  expect(settingsText({ span: 60_000, cooldown, quorum: 0.5 })).toBe(
    "span 1m, cooldown (first 1s, factor 2, longest 5m), quorum 0.5",
  );
});
