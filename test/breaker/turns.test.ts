import { expect, test } from "vitest";
import { breakerSettings } from "../../src/limits/breaker/options.ts";
import { Turns } from "../../src/limits/breaker/turns.ts";

const { rule } = breakerSettings({ name: "turns", span: "10s", failures: 5, quorum: 0.5, cooldown: "16s" });
const COOLDOWN_MS = 16_000;
const TURN_MS = 1000;

const randomId = () => crypto.randomUUID().replaceAll("-", "").slice(-16);

/** How many of a fleet may probe in the first turn, in the second and so on, in a round; and the first ones. */
function roundOf(turns: Turns, ids: readonly string[], epoch: number) {
  const waits = ids.map((id) => turns.waitMs(rule, id, epoch, COOLDOWN_MS));
  const may = Array.from({ length: 16 }, (_, turn) => waits.filter((waitMs) => waitMs <= turn * TURN_MS).length);
  return { may, first: ids.filter((_, i) => waits[i] === Math.min(...waits)) };
}

test("the first turn is that of about one process, and each turn about doubles their number, until all may probe", () => {
  const ids = Array.from({ length: 1001 }, randomId);
  const turns = new Turns({ callers: 1001 });
  turns.fails(rule, ids[0]!);
  const rounds = Array.from({ length: 400 }, (_, i) => roundOf(turns, ids.slice(1), 1_700_000_000_000 + 5003 * i));
  for (let turn = 0; turn < 16; turn++) {
    const mean = rounds.reduce((sum, { may }) => sum + may[turn]!, 0) / rounds.length;
    const wanted = Math.min(1000, 2 ** turn);
    expect({ turn, ratio: mean / wanted }).toEqual({ turn, ratio: expect.closeTo(1, turn < 4 ? 0 : 1) });
  }
  expect(rounds.every(({ may }) => may[10] === 1000)).toBe(true);
});

test("the order is another one in each round, also where rounds are equally long", () => {
  const ids = Array.from({ length: 50 }, randomId);
  const turns = new Turns({ callers: 51 });
  turns.fails(rule, randomId());
  for (const everyMs of [1, 1000, 5000, 30_000]) {
    const firsts = Array.from({ length: 200 }, (_, i) => roundOf(turns, ids, 1_700_000_000_000 + everyMs * i).first);
    expect(new Set(firsts.flat()).size).toBeGreaterThan(40);
    const most = Math.max(...ids.map((id) => firsts.filter((first) => first.includes(id)).length));
    expect(most).toBeLessThan(40);
  }
});

test("a process whose probe failed waits for the whole cooldown, and the only other one not at all", () => {
  const [sick, healthy] = [randomId(), randomId()];
  const turns = new Turns({ callers: 2 });
  expect(turns.waitMs(rule, sick, 7, COOLDOWN_MS)).toBe(0);
  expect(turns.fails(rule, sick)).toBe(true);
  expect(turns.waitMs(rule, sick, 7, COOLDOWN_MS)).toBe(COOLDOWN_MS);
  for (let epoch = 0; epoch < 100; epoch++) expect(turns.waitMs(rule, healthy, epoch, COOLDOWN_MS)).toBe(0);
  turns.clear();
  expect(turns.waitMs(rule, sick, 7, COOLDOWN_MS)).toBe(0);
});
