import type { Store } from "../../../entries/index.ts";
import type { StructureKind } from "../../../store/registry/live.ts";
import type { Found } from "../find.ts";
import { settingsText } from "../settings-text.ts";
import { breakerView } from "./breaker-view.ts";
import { countersView } from "./counters-view.ts";
import { fleetView } from "./fleet-view.ts";
import { limiterView } from "./limiter-view.ts";
import { lockView } from "./lock-view.ts";
import { queueView } from "./queue-view.ts";
import { seriesView } from "./series-view.ts";
import { nothingToClose, type OpenView, type View, type ViewOptions } from "./view.ts";

const VIEWS: Partial<Record<StructureKind, OpenView>> = {
  Series: seriesView,
  Breaker: breakerView,
  Limiter: limiterView,
  DelayQueue: queueView,
  Counters: countersView,
  FleetMetrics: fleetView,
  Lock: lockView,
};

/** Opens a structure to read its numbers. A kind without live numbers shows its settings. Throws ARGUMENT. */
export function openView(store: Store, found: Found, options: ViewOptions): View {
  const open = VIEWS[found.kind];
  return open ? open(store, found, options) : settingsView(found);
}

function settingsView({ structure }: Found): View {
  const settings = structure?.settings ?? {};
  const state = settingsText(settings);
  return {
    read: async () => ({ facts: [["settings", state]], json: { settings }, overview: { state } }),
    close: nothingToClose,
  };
}
