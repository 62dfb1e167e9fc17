import * as oriel from "../../../src/entries/index.ts";
import type { Right, Subject } from "./walk.ts";

const clock = () => 5000;
const T = 4500;
const window = () => ({ sampleCount: 2, interval: 1000, mode: "exact", clock, percentiles: true });
const node = () => new oriel.StatisticNode({ clock });
const count: Right = () => [1];
const countAt: Right = () => [1, T];
const at: Right = () => [T];
const latency: Right = () => [2.5, T];

const VIEW: Record<string, Right> = {
  ...Object.fromEntries(
    [
      ...[
        "success",
        "failure",
        "allowed",
        "denied",
        "borrowed",
        "latencySumMs",
        "successesPerSecond",
        "failuresPerSecond",
      ],
      ...["allowedPerSecond", "deniedPerSecond", "meanLatencyMs", "minLatencyMs", "maxLatencyMs", "maxSuccess"],
      ...["maxAllowed", "bucketAllowed", "previous", "startRange"],
    ].map((name) => [name, at]),
  ),
  details: () => [() => true, T],
  windowsSince: () => [T, T],
  latencyPercentileMs: () => [99, { method: "linear" }],
};
const RING: Record<string, Right> = {
  ...Object.fromEntries(
    ["indexOf", "startOf", "currentWindow", "previousWindow", "windowValue", "validHead"].map((name) => [name, at]),
  ),
  isWindowDeprecated: () => [new oriel.LeapArray(1, 1, () => 1, { clock }).currentWindow(), T],
  list: at,
  listAll: () => [],
  values: at,
  windowsSince: () => [T, T],
};
const FLOW: Record<string, Right> = { tryPass: () => [node(), 1] };
const warmUp = () => ({ count: 10, warmUpPeriod: "10s", coldFactor: 3, clock });

/** Live metrics of one process, and the flow rules over them. */
export const METRICS: Record<string, Subject> = {
  MetricWindow: {
    called: oriel.MetricWindow,
    right: () => [{ ...window(), percentiles: { values: "float32", maxBytes: 1e6 } }],
    methods: {
      ...VIEW,
      ...Object.fromEntries(
        ["addSuccess", "addFailure", "addAllowed", "addDenied", "addBorrowed"].map((n) => [n, countAt]),
      ),
      addLatency: latency,
      recordSuccess: latency,
      recordFailure: () => [],
      addWaiting: () => [T, 1],
      waiting: at,
      view: () => [{ sampleCount: 1, interval: 1000 }],
    },
  },
  MetricView: {
    object: () => new oriel.MetricWindow(window() as never).view({ sampleCount: 1, interval: 1000 }),
    methods: VIEW,
  },
  MetricBucket: {
    called: oriel.MetricBucket,
    right: () => [],
    methods: {
      ...Object.fromEntries(
        ["addSuccess", "addFailure", "addAllowed", "addDenied", "addBorrowed"].map((n) => [n, count]),
      ),
      addLatency: () => [2.5],
      reset: () => [],
    },
  },
  LeapArray: {
    called: oriel.LeapArray,
    right: () => [2, 1000, () => new oriel.MetricBucket(), { mode: "sentinel", clock, reset: () => {} }],
    methods: RING,
  },
  OccupiableLeapArray: {
    called: oriel.OccupiableLeapArray,
    right: () => [2, 1000, { clock }],
    methods: { ...RING, addWaiting: () => [T, 1], currentWaiting: () => [] },
  },
  StatisticNode: {
    called: oriel.StatisticNode,
    right: () => [{ sampleCount: 2, interval: 1000, occupyTimeout: 500, mode: "sentinel", percentiles: false, clock }],
    methods: {
      ...Object.fromEntries(["addAllowed", "addDenied", "addFailure"].map((name) => [name, count])),
      ...Object.fromEntries(
        [
          ...["increaseConcurrency", "decreaseConcurrency", "recordFailure", "allowedPerSecond", "totalRequest"],
          ...["previousAllowedPerSecond", "maxSuccessesPerSecond"],
        ].map((name) => [name, () => []]),
      ),
      recordSuccess: () => [2.5],
      tryOccupyNext: () => [1, 10, T],
      occupy: () => [1, 100, T],
      newSeconds: () => [],
    },
  },
  ClusterMetric: {
    called: oriel.ClusterMetric,
    right: () => [{ sampleCount: 2, interval: 1000, clock }],
    methods: {
      ...Object.fromEntries(["addAllowed", "addDenied"].map((name) => [name, count])),
      ...Object.fromEntries(["allowed", "denied", "allowedPerSecond", "waiting"].map((name) => [name, () => []])),
      tryOccupyNext: () => [1, 10],
      acquire: () => [1, 10, true],
    },
  },
  ClusterParamMetric: {
    called: oriel.ClusterParamMetric,
    right: () => [{ sampleCount: 2, interval: 1000, clock, maxValues: 10 }],
    methods: { add: () => ["a", 1], sum: () => ["a"], avg: () => ["a"], top: () => [1] },
  },
  RejectController: {
    called: oriel.RejectController,
    right: () => [{ count: 1, grade: "rate" }],
    methods: { tryPass: () => [node(), 1, { prioritized: false }] },
  },
  ThrottlingController: {
    called: oriel.ThrottlingController,
    right: () => [{ count: 1, interval: 1000, maxQueueingTime: 500, clock }],
    methods: FLOW,
  },
  WarmUpController: { called: oriel.WarmUpController, right: () => [warmUp()], methods: FLOW },
  WarmUpThrottlingController: {
    called: oriel.WarmUpThrottlingController,
    right: () => [{ ...warmUp(), maxQueueingTime: 500 }],
    methods: FLOW,
  },
};
