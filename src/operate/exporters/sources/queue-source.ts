import { argumentError } from "../../../base/errors.ts";
import { atSite } from "../../../base/site.ts";
import { together } from "../collect.ts";
import { Histograms, SECONDS } from "../histogram.ts";
import { counter, type MetricInfo, type MetricsSource, Names, Totals } from "../metric.ts";

const STATES = ["waiting", "due", "claimed", "dead"] as const;
const EVENTS = ["completed", "again", "failed", "retry", "dead", "stalled", "lost"] as const;

/** The members of `DelayQueue` that this source uses. */
export interface QueueLike {
  readonly name: string;
  counts(): Promise<Record<(typeof STATES)[number], number>>;
}

/** The members of `QueueWorker` that this source uses. */
export interface WorkerLike {
  on<Name extends keyof WorkerSourceEvents>(
    event: Name,
    listener: (event: WorkerSourceEvents[Name]) => void,
  ): () => void;
}

export interface NamedWorkerLike extends WorkerLike {
  readonly queue: { readonly name: string };
}

/** The events of a worker that its source counts. */
export interface WorkerSourceEvents extends Record<Exclude<(typeof EVENTS)[number], "completed">, unknown> {
  claimed: { lateMs: number };
  completed: { durationMs: number };
}

/**
 * Metrics of a queue: the number of messages in each state, and what the given workers of this process do from now on.
 * Throws ARGUMENT.
 */
export function queueSource(queue: QueueLike, workers: readonly WorkerLike[] = []): MetricsSource {
  return atSite("queueSource", () => {
    if (!isQueue(queue)) throw argumentError("queue", queue, "a DelayQueue");
    if (!Array.isArray(workers as unknown)) throw argumentError("workers", workers, "an array of workers");
    for (const worker of workers)
      if (typeof worker?.on !== "function") throw argumentError("workers", worker, "workers that process() returned");
    const names = new Names();
    const counts = new WorkerCounts(names);
    for (const worker of workers) counts.attach(worker, queue.name);
    const parts = [counts.source, queueMessages(queue, names)];
    return together(QUEUE_METRICS, () => parts);
  });
}

export function isQueue(queue: Partial<QueueLike> | null | undefined): queue is QueueLike {
  return typeof queue?.counts === "function";
}

export function isNamedWorker(worker: object): boolean {
  return "queue" in worker;
}

const MESSAGES: MetricInfo = {
  prometheus: "fleet_queue_messages",
  otel: "fleet.queue.messages",
  type: "gauge",
  unit: "{message}",
  help: "Messages of the whole queue, by state.",
  isShared: true,
};
const COUNTS: readonly MetricInfo[] = [
  counter(
    "queue_worker_messages",
    "queue.worker.messages",
    "{message}",
    "Messages that workers of this process have handled, by event.",
  ),
  {
    prometheus: "queue_lateness_seconds",
    otel: "queue.lateness",
    type: "histogram",
    unit: "s",
    help: "Time from when a message was due until a worker of this process claimed it.",
    isShared: false,
  },
  {
    prometheus: "queue_handling_seconds",
    otel: "queue.handling",
    type: "histogram",
    unit: "s",
    help: "Time from the start of the handler until the completed message was stored as done, in this process.",
    isShared: false,
  },
];
export const QUEUE_METRICS: readonly MetricInfo[] = [...COUNTS, MESSAGES];

export function queueMessages(queue: QueueLike, names: Names): MetricsSource {
  return {
    metrics: [MESSAGES],
    async collect() {
      const counts = await queue.counts();
      const name = names.labelOf(queue.name);
      return [STATES.map((state) => ({ value: counts[state], labels: { name, state } }))];
    },
  };
}

/** The counts of workers, which it does not keep alive. */
export class WorkerCounts {
  readonly #names: Names;
  readonly #events = new Totals();
  readonly #lateness = new Histograms(SECONDS);
  readonly #handling = new Histograms(SECONDS);
  readonly source: MetricsSource = {
    metrics: COUNTS,
    collect: async () => [this.#events.samples(), this.#lateness.samples(), this.#handling.samples()],
  };

  constructor(names: Names) {
    this.#names = names;
  }

  attach(worker: WorkerLike, queueName: string): void {
    const name = this.#names.labelOf(queueName);
    for (const event of EVENTS) {
      const events = this.#events.of({ name, event });
      worker.on(event, () => events.value++);
    }
    const [lateness, handling] = [this.#lateness.of(name), this.#handling.of(name)];
    worker.on("claimed", ({ lateMs }) => lateness.add(lateMs / 1000));
    worker.on("completed", ({ durationMs }) => handling.add(durationMs / 1000));
  }
}
