import { expect, test } from "vitest";
import { append } from "../ops/operations.ts";
import { stores } from "./stores.ts";

test.each(Object.entries(stores))("%s: a closed store refuses, and may be closed twice", async (_name, open) => {
  const { store, clear, close } = await open();
  await clear();
  const input = { bytes: Buffer.from("x"), maxBytes: 9, lifetimeMs: 0 };
  const before = store.run(append, store.keyOf("k"), input);
  await Promise.all([store.close(), store.close()]);
  expect((await before).length).toBe(1);
  await expect(store.run(append, store.keyOf("k"), input)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    applied: "no",
  });
  await close();
});
