import type { StructureKind } from "../../../store/registry/live.ts";
import type { DashboardSettings } from "../options.ts";
import { breakerKind } from "./breaker.ts";
import { countersKind } from "./counters.ts";
import { fleetKind } from "./fleet.ts";
import type { DashboardKind } from "./kind.ts";
import { limiterKind } from "./limiter.ts";
import { lockKind, readWriteLockKind } from "./locks.ts";
import { queueKind } from "./queue.ts";
import { multiSemaphoreKind, semaphoreKind } from "./semaphores.ts";
import { seriesKind } from "./series.ts";

export const KINDS: readonly DashboardKind[] = [
  ...[seriesKind, limiterKind, queueKind, breakerKind, countersKind, fleetKind],
  ...[lockKind, readWriteLockKind, semaphoreKind, multiSemaphoreKind],
];
const BY_NAME: ReadonlyMap<string, DashboardKind> = new Map(KINDS.map((each) => [each.kind, each] as const));

/** A kind without a file of its own is listed, and shows its settings only. */
export function kindOf(kind: StructureKind): DashboardKind {
  return BY_NAME.get(kind) ?? { kind, columns: [], parts: {}, actions: {} };
}

/** The names of the actions that a dashboard with these settings does. */
export function offeredActions({ actions, idActions }: DashboardKind, settings: DashboardSettings): string[] {
  if (!settings.allowsActions) return [];
  return Object.keys(actions).filter((name) => !settings.masksIds || idActions?.[name] !== "shown");
}
