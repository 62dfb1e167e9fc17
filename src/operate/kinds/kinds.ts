import type { StructureKind } from "../../store/registry/live.ts";
import type { DashboardSettings } from "../dashboard/options.ts";
import { breakerKind } from "./breaker.ts";
import { countersKind } from "./counters.ts";
import { fleetKind } from "./fleet.ts";
import type { Kind } from "./kind.ts";
import { limiterKind } from "./limiter.ts";
import { lockKind, readWriteLockKind } from "./locks.ts";
import { queueKind } from "./queue.ts";
import { semaphoreKind } from "./semaphores.ts";
import { seriesKind } from "./series.ts";
import { seriesGroupKind } from "./series-group.ts";

/** A structure that is listed, and shows its settings only. */
const SETTINGS_ONLY: Kind = { columns: [], parts: {}, actions: {} };

/** Every kind that a structure can announce. */
export const KINDS: Readonly<Record<StructureKind, Kind>> = {
  Series: seriesKind,
  SeriesGroup: seriesGroupKind,
  LockedWindow: SETTINGS_ONLY,
  Limiter: limiterKind,
  Lock: lockKind,
  ReadWriteLock: readWriteLockKind,
  Semaphore: semaphoreKind,
  MultiSemaphore: semaphoreKind,
  Counters: countersKind,
  DrainService: SETTINGS_ONLY,
  DelayQueue: queueKind,
  Breaker: breakerKind,
  FleetMetrics: fleetKind,
};

/** A kind of another version of oriel shows its settings. */
export function kindOf(kind: string): Kind {
  return Object.hasOwn(KINDS, kind) ? KINDS[kind as StructureKind] : SETTINGS_ONLY;
}

/** The names of the actions that a dashboard with these settings does. */
export function offeredActions({ actions, idActions }: Kind, settings: DashboardSettings): string[] {
  if (!settings.allowsActions) return [];
  return Object.keys(actions).filter((name) => !settings.masksIds || idActions?.[name] !== "shown");
}
