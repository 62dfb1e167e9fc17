/** What became of what was recorded. */
export interface Recorded {
  /** False: it is in the store. True: this process keeps it, `onStoreError` being "local"; others may never see it. */
  degraded: boolean;
  degradedBy?: "local";
}

/** Shared by all callers, so nobody may change them. */
export const STORED: Recorded = Object.freeze({ degraded: false });
export const KEPT: Recorded = Object.freeze({ degraded: true, degradedBy: "local" });
