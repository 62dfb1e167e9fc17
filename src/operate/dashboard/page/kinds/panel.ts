import type { StructureEntry } from "../../protocol.ts";
import type { PageOverview } from "../server.ts";

/** The view of one structure. One file for each kind makes it; main.ts lists them. */
export interface Panel {
  readonly element: HTMLElement;
  /** The address has changed: read it, and ask the server for what it says. */
  update(): void;
  /** The list of structures and processes has changed. */
  overview?(overview: PageOverview): void;
  /** The panel has left the screen. It must ask for nothing more. */
  close(): void;
}

export type PanelMaker = (structure: StructureEntry, overview: PageOverview) => Panel;
