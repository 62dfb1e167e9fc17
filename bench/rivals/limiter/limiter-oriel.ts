import {
  calendarWindow,
  fixedWindow,
  gcra,
  Limiter,
  leakyBucket,
  type Policy,
  redisStore,
  slidingWindow,
} from "../../../src/entries/index.ts";
import type { LimiterKind, LimiterRival } from "./limiter.ts";

interface Rate {
  limit: number;
  spanMs: number;
}

function rival(kind: LimiterKind, timesLimit: 1 | 2, policyOf: (rate: Rate) => Policy): LimiterRival {
  return {
    name: `oriel ${kind}`,
    kind,
    timesLimit,
    missing: () => undefined,
    async open(redisUrl, rate) {
      const store = redisStore(redisUrl, { deadline: 10_000 });
      const limiter = new Limiter(store, [policyOf(rate)], { name: "bench" });
      return {
        take: async (id) => (await limiter.take(id)).allowed,
        close: () => store.close(),
      };
    },
  };
}

export const ORIEL_LIMITERS: readonly LimiterRival[] = [
  rival("exact sliding window", 1, ({ limit, spanMs }) => slidingWindow({ limit, span: spanMs })),
  rival("fixed window", 2, ({ limit, spanMs }) => fixedWindow({ limit, span: spanMs })),
  rival("leaky-bucket", 2, ({ limit, spanMs }) => leakyBucket({ capacity: limit, span: spanMs })),
  rival("GCRA", 2, ({ limit, spanMs }) => gcra({ limit, span: spanMs })),
  // Its window is the month, whatever the span: no window ends in a run.
  rival("calendar window", 2, ({ limit }) => calendarWindow({ limit, every: "month", timeZone: "Europe/Berlin" })),
];
