import { expect, test } from "vitest";
import { DelayQueue, memoryStore } from "../../src/entries/index.ts";

const cyclic: { user: Record<string, unknown> } = { user: {} };
cyclic.user.self = { of: cyclic.user };
let deep: unknown = {};
for (let i = 0; i < 50_000; i++) deep = [deep];
const springing = {
  user: Object.defineProperty({}, "id", {
    enumerable: true,
    get() {
      throw new Error("no");
    },
  }),
};

test.each([
  ["a bigint", { user: { id: 5n } }, "payload.user.id is 5n; it must be a string or a number"],
  ["a bigint in a list", { ids: [1, { n: 2n }] }, "payload.ids[1].n is 2n"],
  ["a bigint alone", 1n, "payload is 1n"],
  ["a cycle", cyclic, "payload.user.self.of is an object; it must be a value that does not contain itself"],
  ["nothing", undefined, "payload is undefined; it must be a JSON value or bytes"],
  ["a function", () => 1, "payload is a function"],
  ["what is too deep", deep, "payload is an array of 1; it must be at most 1000 objects deep"],
  ["a getter that throws", springing, "payload.user.id is undefined; it must be what can be read"],
])("a payload that is not valid JSON is refused with its path: %s", async (_, payload, message) => {
  const queue = new DelayQueue(memoryStore(), "mail");
  await expect(queue.add(payload)).rejects.toMatchObject({
    code: "ARGUMENT",
    message: expect.stringContaining(`DelayQueue "mail" add: ${message}`),
  });
  expect(await queue.counts()).toMatchObject({ waiting: 0, due: 0 });
});
