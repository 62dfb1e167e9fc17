import { PackedEvents } from "../../stats/segments/packed-events.ts";
import { WindowIndex } from "../../stats/wavelet/window-index.ts";
import { Sealing } from "./sealing.ts";

/**
 * For processes that stay: a series seals closed chunks, packs its copy while nobody queries it, and indexes it for windows
 * that were not asked for before. A Worker does none of this, so a bundle for Workers has `runtimes/no-upkeep.ts` in the place of this file.
 */
export const upkeep:
  | { PackedEvents: typeof PackedEvents; WindowIndex: typeof WindowIndex; Sealing: typeof Sealing }
  | undefined = {
  PackedEvents,
  WindowIndex,
  Sealing,
};
