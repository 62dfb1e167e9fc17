import type { ServerTime } from "../../journal/replica/server-time.ts";
import type { Place } from "../../place.ts";

/** What a journal needs of its series. */
export interface JournalOwner {
  readonly place: Place;
  /** What is known of the server's clock. */
  readonly time: ServerTime;
  /** Tells that so many events will never be in the store, and why. */
  giveUp(count: number, error: unknown): void;
}
