import { seriesPanel } from "../series/series-panel.ts";
import { breakerPanel } from "./breaker-panel.ts";
import { countersPanel } from "./counters-panel.ts";
import { fleetPanel } from "./fleet-panel.ts";
import { limiterPanel } from "./limiter-panel.ts";
import { lockPanel } from "./lock-panel.ts";
import type { PanelMaker } from "./panel.ts";
import { queuePanel } from "./queue-panel.ts";
import { semaphorePanel } from "./semaphore-panel.ts";
import { settingsPanel } from "./settings-panel.ts";

const PANELS: Readonly<Record<string, PanelMaker>> = {
  Series: seriesPanel,
  Limiter: limiterPanel,
  DelayQueue: queuePanel,
  Breaker: breakerPanel,
  Counters: countersPanel,
  FleetMetrics: fleetPanel,
  Lock: lockPanel,
  ReadWriteLock: lockPanel,
  Semaphore: semaphorePanel,
  MultiSemaphore: semaphorePanel,
};

/** A kind without a panel of its own shows its settings. */
export function panelOf(kind: string): PanelMaker {
  return PANELS[kind] ?? settingsPanel;
}
