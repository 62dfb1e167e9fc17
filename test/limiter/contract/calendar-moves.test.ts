import { expect, test } from "vitest";
import { calendarWindow, Limiter, memoryStore, type Policy } from "../../../src/entries/index.ts";
import { Random } from "../../simulator/world/random.ts";

const HOUR_MS = 3_600_000;
const LIMIT = 20;
const ZONES = ["Asia/Tokyo", "America/New_York", "Europe/Berlin", "UTC", "Pacific/Auckland", "Pacific/Honolulu"];
const EVERY = ["day", "week", "month"] as const;

interface Taken {
  atMs: number;
  permits: number;
  /** Of the window of the caller's own calendar. */
  endMs: number;
}

/** A customer who moves to another zone. Each answer is checked against what happens. */
class Traveller {
  readonly clock = { nowMs: Date.UTC(2101, 0, 25) };
  #taken: Taken[] = [];
  readonly #store = memoryStore({ registry: false, clock: () => this.clock.nowMs });
  #policy!: Policy;
  readonly #limiter = new Limiter(this.#store, () => [this.#policy], { name: "plan" });

  moveTo(every: (typeof EVERY)[number], timeZone: string): void {
    this.#policy = calendarWindow({ limit: LIMIT, every, timeZone });
  }

  get #own() {
    const { calendar } = this.#policy;
    calendar!.turnTo(this.clock.nowMs);
    return { beginMs: calendar!.terms.spanMs, endMs: calendar!.terms.rate };
  }

  /** Takes, if it may. A denial is checked: it ends after exactly so long. */
  async take(permits: number): Promise<{ allowed: boolean; retryAfterMs: number }> {
    const { beginMs, endMs } = this.#own;
    const answer = await this.#limiter.take("a", { cost: permits });
    const { nowMs } = this.clock;
    const { allowed, retryAfterMs } = answer;
    const resetAtMs = answer.policies[0]!.resetAtMs!;
    if (allowed) {
      this.#taken.push({ atMs: nowMs, permits, endMs });
      this.#checkSum(beginMs);
    } else {
      await this.#checkEdge(
        nowMs + retryAfterMs,
        async () => (await this.#limiter.peek("a", { cost: permits })).allowed,
      );
    }
    await this.#checkEdge(resetAtMs, async () => (await this.#limiter.peek("a")).remaining === LIMIT);
    return { allowed, retryAfterMs };
  }

  /** Permits count until the window ends in which they were taken, and since the caller's own window began. */
  #checkSum(beginMs: number): void {
    const { nowMs } = this.clock;
    // What counts in neither is forgotten, even if a window of a later zone begins before it.
    this.#taken = this.#taken.filter(({ atMs, endMs }) => nowMs < endMs || atMs >= beginMs);
    expect(this.#taken.reduce((sum, { permits }) => sum + permits, 0)).toBeLessThanOrEqual(LIMIT);
  }

  /** Whether something is so at an instant, and not 1 ms before. */
  async #checkEdge(atMs: number, isSo: () => Promise<boolean>): Promise<void> {
    const { nowMs } = this.clock;
    const seen: boolean[] = [];
    for (const each of [atMs - 1, atMs]) {
      this.clock.nowMs = each;
      seen.push(await isSo());
    }
    this.clock.nowMs = nowMs;
    expect({ atMs, seen }).toEqual({ atMs, seen: [false, true] });
  }
}

test("who moves to another time zone gets one limit in each window, and each answer says exactly when permits are free", async () => {
  const seed = Number(process.env.ORIEL_SEED ?? Date.now() % 1_000_000);
  const random = new Random(seed);
  let denials = 0;
  for (const every of EVERY)
    for (let life = 0; life < 60; life++) {
      const traveller = new Traveller();
      traveller.moveTo(every, random.pick(ZONES));
      for (let step = 0; step < 40; step++) {
        if (step === 20) traveller.moveTo(every, random.pick(ZONES));
        const { allowed, retryAfterMs } = await traveller.take(random.pick([1, 2, 5, 11]));
        if (!allowed) denials++;
        const hours = every === "day" ? 3 : every === "week" ? 12 : 40;
        traveller.clock.nowMs += random.chance(0.1) ? retryAfterMs : random.int(0, hours * HOUR_MS);
      }
    }
  expect({ seed, isTested: denials > 200 }).toEqual({ seed, isTested: true });
});
