import { OrielError } from "../../../base/errors.ts";
import { Breaker, type BreakerOptions, type Store } from "../../../entries/index.ts";
import { age } from "../../../operate/format.ts";
import type { Found } from "../find.ts";
import { nothingToClose, type OpenView } from "./view.ts";

/** Opens a breaker with the settings of the registry. Throws ARGUMENT if it is not listed. */
export function openBreaker(store: Store, { name, structure, advice }: Found): Breaker {
  if (!structure)
    throw new OrielError(
      "ARGUMENT",
      `the registry lists no Breaker ${JSON.stringify(name)}, and the command needs its settings${advice}`,
    );
  return new Breaker(store, { ...structure.settings, name } as BreakerOptions);
}

/** The state of the shared circuit. */
export const breakerView: OpenView = (store, found) => {
  const breaker = openBreaker(store, found);
  const spanMs = found.structure?.settings.span as number;
  return {
    async read() {
      await breaker.flush();
      const stats = breaker.stats();
      const { state, calls, failures, slow, retryAfterMs } = stats;
      const rate = (calls * 1000) / spanMs;
      const retry = state === "closed" ? "" : `, ${age(retryAfterMs)} left`;
      return {
        facts: [
          ["state", state],
          ["calls", `${calls}`],
          ["failures", `${failures}`],
          ["slow", `${slow}`],
          ...(state === "closed" ? [] : [["retry after", age(retryAfterMs)] as const]),
        ],
        json: { ...stats },
        overview: { rate, state: `${state}${retry}, ${failures} failed, ${slow} slow`, isBad: state !== "closed" },
      };
    },
    close: nothingToClose,
  };
};
