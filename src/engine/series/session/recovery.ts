import { endsWithRequest } from "../../../base/async/of-request.ts";
import { idlePause } from "../../../base/async/timers.ts";
import { OrielError } from "../../../base/errors.ts";
import { isStoreFault } from "../refused.ts";
import type { SeriesSettings } from "../series-options.ts";
import type { BufferedEvents } from "./offline-buffer.ts";
import type { OfflineSession } from "./offline-session.ts";
import type { OnlineSession } from "./online-session.ts";
import type { EventWriter } from "./session.ts";

/** Buffered events this close to expiry are not sent. If the store finds one too late, it refuses the whole frame. */
const EXPIRY_SLACK_MS = 1000;
/** Pause between two attempts that fail because of the store. It doubles up to the maximum. */
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;

/**
 * Brings a series from offline back to online.
 *
 *          a call fails because of the store: DEADLINE, UNAVAILABLE, STALE, out of memory, read-only
 *   online ────────────────────────────────────────────────────────────────────────────────────────> offline
 *     ^     this call and all later ones are answered by the offline session                             │
 *     │                                                                                                  │
 *     └──────────────────────────────────────────────────────────────────────────────────────────────────┘
 *           a probe is answered: calls go to the store again, and the buffered events are sent behind them
 *
 * One probe at a time runs in the background, and no call waits for it. Buffered events are sent as dated events, one
 * segment after the other. If the store fails during that, the rest goes back to the buffer. Events that the store refuses
 * for good (LATE, MISMATCH, CORRUPT), or may have applied, are reported as lost.
 */
export class Recovery {
  readonly #online: OnlineSession;
  readonly #offline: OfflineSession;
  readonly #settings: SeriesSettings;
  readonly #writer: EventWriter;
  #isClosed = false;
  #running: Promise<void> | undefined;
  /** The events that are being sent. */
  #sending: BufferedEvents | undefined;
  #endPause: (() => void) | undefined;

  constructor(online: OnlineSession, offline: OfflineSession, settings: SeriesSettings, writer: EventWriter) {
    this.#online = online;
    this.#offline = offline;
    this.#settings = settings;
    this.#writer = writer;
  }

  /** Probes in the background until the store is back. */
  start(): void {
    this.#running ??= this.#run();
  }

  /**
   * Probes once and, if the store is back, sends the buffered events. Never rejects. For Workers, where no timer outlives
   * its request, so each call probes by itself.
   */
  async tryNow(): Promise<void> {
    try {
      await this.#online.probe();
    } catch (error) {
      if (isStoreFault(error)) return this.#offline.enter(error);
    }
    this.#offline.leave();
    await this.#send();
  }

  /** Stops probing. Waits for events that are being sent. */
  async stop(): Promise<void> {
    this.#isClosed = true;
    this.#endPause?.();
    await this.#running;
  }

  /** The request that was sending buffered events has ended. */
  lose(): void {
    const why = "a request ended before the buffered events were sent";
    const error = new OrielError("UNAVAILABLE", why, { transient: true, applied: "unknown" });
    if (this.#sending) this.#offline.reportLost(this.#sending.values.length, error);
    this.#offline.abandon(why);
  }

  async #run(): Promise<void> {
    for (let pauseMs = MIN_PAUSE_MS; this.#offline.isOffline; pauseMs = longer(pauseMs)) {
      await this.#untilAnswered();
      if (this.#isClosed) break;
      this.#offline.leave();
      await this.#send();
      // A server that is full or read-only answers probes all the same.
      if (this.#offline.isOffline) await this.#pause(jittered(pauseMs));
    }
    this.#running = undefined;
  }

  async #untilAnswered(): Promise<void> {
    for (let pauseMs = MIN_PAUSE_MS; !this.#isClosed; pauseMs = longer(pauseMs)) {
      try {
        await this.#online.probe();
        return;
      } catch (error) {
        // Later calls report any other error.
        if (!isStoreFault(error)) return;
        this.#offline.enter(error);
      }
      await this.#pause(jittered(pauseMs));
    }
  }

  /** Sends the buffered events until none is left or the store fails again. */
  async #send(): Promise<void> {
    const { buffer } = this.#offline;
    let pauseMs = MIN_PAUSE_MS;
    while (!this.#offline.isOffline) {
      const events = buffer.shift(this.#offline.nowMs() - this.#settings.retentionMs + EXPIRY_SLACK_MS);
      if (!events) return buffer.settle();
      this.#offline.reportExpired(events.expired);
      this.#sending = events;
      try {
        await this.#writer.write(events.values, events.times);
        pauseMs = MIN_PAUSE_MS;
      } catch (error) {
        const { transient, applied } = error as OrielError;
        if (!transient || applied === "unknown" || this.#isClosed) {
          buffer.reject(events);
          this.#offline.reportLost(events.values.length, error);
        } else {
          buffer.putBack(events);
          if (endsWithRequest) return;
          await this.#pause(pauseMs);
          pauseMs = longer(pauseMs);
        }
      } finally {
        this.#sending = undefined;
      }
    }
  }

  #pause(ms: number): Promise<void> {
    const { ended, end } = idlePause(ms);
    this.#endPause = end;
    return ended;
  }
}

function longer(pauseMs: number): number {
  return Math.min(2 * pauseMs, MAX_PAUSE_MS);
}

function jittered(pauseMs: number): number {
  return pauseMs * (0.5 + Math.random() / 2);
}
