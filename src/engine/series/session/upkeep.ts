import { IdlePacking } from "../../journal/replica/idle-packing.ts";
import { PackedEvents } from "../../stats/segments/packed-events.ts";
import { WindowIndex } from "../../stats/wavelet/window-index.ts";
import { Sealing } from "./sealing.ts";

/**
 * For processes that stay: a series seals closed chunks, packs its copy while nobody queries it, and indexes it for windows
 * that were not asked for before. A Worker does none of this.
 */
export const upkeep = { IdlePacking, PackedEvents, WindowIndex, Sealing };
