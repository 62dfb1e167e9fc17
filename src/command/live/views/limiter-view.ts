import { Series, type Store } from "../../../entries/index.ts";
import { asTyped, exact } from "../../../operate/format.ts";
import { outcomeSeries } from "../../../operate/history/names.ts";
import { readOutcomes } from "../../../operate/history/read-outcomes.ts";
import { burstRateOf, settingsText } from "../settings-text.ts";
import { type OpenView, setting } from "./view.ts";

/**
 * The policies of a limiter, and its calls of the last `spanMs` if a process records its history. Its counts belong to ids:
 * `oriel limit peek` shows them.
 */
export const limiterView: OpenView = (store, found, { spanMs }) => {
  const policies = setting<unknown>(found, "policies");
  const listed = Array.isArray(policies) ? policies.map((each) => Object(each) as Record<string, unknown>) : [];
  const span = (ms: unknown) => (typeof ms === "number" ? asTyped(ms) : "?");
  const state = settingsText({ policies: policies ?? "unknown" });
  const calls = new Calls(store, found.name, spanMs);
  return {
    async read() {
      const counts = await calls.read();
      const perSecond = (count: number) => (count * 1000) / spanMs;
      const rates = counts && { rate: perSecond(counts.allowed + counts.denied), denied: perSecond(counts.denied) };
      return {
        facts: [
          ...(listed.length > 0 ? [] : [["policies", state] as const]),
          ...Object.entries(counts ?? {}).map(
            ([name, count]) => [name, `${exact(count)} in ${asTyped(spanMs)}`] as const,
          ),
        ],
        ...(listed.length > 0 && {
          table: [
            { head: "policy", cells: listed.map(({ name }) => `${name}`), rank: 0, minWidth: 12 },
            { head: "kind", cells: listed.map(({ kindName }) => `${kindName}`), rank: 1 },
            {
              head: "limit",
              cells: listed.map((policy) => {
                const rate = burstRateOf(policy);
                return rate === undefined ? `${policy.limit}` : `${rate}, ${policy.limit} at once`;
              }),
              ...{ rank: 0, isRight: true },
            },
            { head: "span", cells: listed.map(({ spanMs }) => span(spanMs)), rank: 0, isRight: true },
            { head: "shadow", cells: listed.map(({ isShadow }) => (isShadow === true ? "yes" : "no")), rank: 2 },
          ],
        }),
        json: { policies: policies ?? null, ...(counts && { ...counts, spanMs }) },
        overview: { ...rates, state },
      };
    },
    close: () => calls.close(),
  };
};

/** The sums of a limiter's history. */
class Calls {
  readonly #store: Store;
  readonly #name: string;
  readonly #spanMs: number;
  readonly #series = new Map<string, Series>();

  constructor(store: Store, name: string, spanMs: number) {
    this.#store = store;
    this.#name = name;
    this.#spanMs = spanMs;
  }

  /** Undefined without a history. */
  async read(): Promise<Record<"allowed" | "denied" | "shadow", number> | undefined> {
    const { outcomes } = await readOutcomes(this.#store, this.#name);
    if (outcomes.length === 0) return undefined;
    const counts = { allowed: 0, denied: 0, shadow: 0 };
    await Promise.all(
      outcomes.map(async (each) => {
        const { sum } = await this.#of(outcomeSeries(this.#name, each)).stats({ span: this.#spanMs, percentiles: [] });
        counts[each.outcome] += sum;
      }),
    );
    return counts;
  }

  #of(name: string): Series {
    let series = this.#series.get(name);
    if (!series) {
      series = new Series(this.#store, name, { retention: this.#spanMs, values: "float64", nan: "ignore" });
      this.#series.set(name, series);
    }
    return series;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#series.values()].map((each) => each.close()));
  }
}
