import { expect, it } from "vitest";
import { Lock, memoryStore } from "../../src/entries/index.ts";
import { Answers } from "../../src/operate/dashboard/answers.ts";
import { dashboardSettings } from "../../src/operate/dashboard/options.ts";
import { streamOf } from "../../src/operate/dashboard/stream.ts";
import { Scope } from "../../src/operate/kinds/scope.ts";

type Chunks = ReadableStreamDefaultReader<Uint8Array>;

/** Counts the chunks that the stream has ready, without a wait for its next tick. */
async function readyIn(chunks: Chunks): Promise<number> {
  for (let count = 0; ; count++) {
    const isReady = await Promise.race([
      chunks.read().then(() => true),
      new Promise<false>((resolve) => setImmediate(resolve, false)),
    ]);
    if (!isReady) return count;
  }
}

it("a page that does not read is not written to, and goes on when it reads again", async () => {
  const answers = new Answers(new Scope(memoryStore(), dashboardSettings({})));
  const open = () => streamOf(answers, [], 1000, 5).getReader();
  const [stalled, reading] = [open(), open()];
  for (let ticks = 0; ticks < 30; ticks++) await reading.read();
  await reading.cancel();
  // Those of one tick, and of one that begins meanwhile.
  expect(await readyIn(stalled)).toBeLessThanOrEqual(3);
  expect((await stalled.read()).done).toBe(false);
  await stalled.cancel();
});

it("a new structure is reported between two ticks", async () => {
  const store = memoryStore();
  const answers = new Answers(new Scope(store, dashboardSettings({})));
  const chunks = streamOf(answers, [], 1000, 3_600_000).getReader();
  expect(new TextDecoder().decode((await chunks.read()).value)).toMatch(/^event: health/);
  await new Lock(store, "new").inspect();
  expect(new TextDecoder().decode((await chunks.read()).value)).toMatch(/^event: changed/);
  await chunks.cancel();
});
