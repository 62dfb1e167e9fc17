import { CLIENT_REASONS, CLOSES, SILENT } from "./client-reasons.ts";
import { addReasons, reasonOf } from "./reason.ts";

/** What was said on the connection before this one stands until this one has been silent for so long. */
const SILENT_AFTER_MS = 1000;

/**
 * Why a connection cannot be used, as a client's events say it. Clients connect again and again to a server that accepts
 * connections and then refuses them: between two refusals, the reason is that of the last one.
 *
 *   connected ... why the server could not be reached is over
 *   failed ...... the reason
 *   closed ...... without an error before it: CLOSES
 *   ready ....... none
 */
export class LastError {
  readonly #unreached: string;
  #error: Error | undefined;
  /** It is a reason, and was said on a connection: not why there was none. */
  #isOfConnection = false;
  #isConnected = false;
  /** Since when the connection that stands has said nothing. */
  #silentSinceMs: number | undefined;

  /** `unreached`: the reason while no connection was made yet and no error came. */
  constructor(unreached: string) {
    addReasons(CLIENT_REASONS);
    this.#unreached = unreached;
  }

  get current(): Error | undefined {
    const sinceMs = this.#silentSinceMs;
    const isSilent = sinceMs !== undefined && (!this.#error || performance.now() - sinceMs >= SILENT_AFTER_MS);
    return isSilent ? new Error(SILENT) : this.#error;
  }

  /** Some clients do not say why they cannot connect. */
  orWhileConnecting(isConnecting: boolean): Error | undefined {
    const { current } = this;
    return isConnecting && !reasonOf(current) ? new Error(this.#unreached, { cause: current }) : current;
  }

  /** The connection stands, and nothing was said on it. */
  get isSilent(): boolean {
    return this.#silentSinceMs !== undefined;
  }

  connected(): void {
    if (!this.#isOfConnection) this.#error = undefined;
    this.#isConnected = true;
    this.#silentSinceMs = performance.now();
  }

  failed(error: Error): void {
    this.#error = error;
    this.#isOfConnection = this.#isConnected && reasonOf(error) !== undefined;
    this.#silentSinceMs = undefined;
  }

  closed(): void {
    if (this.isSilent) this.failed(new Error(CLOSES));
    this.#isConnected = false;
  }

  ready(): void {
    this.#error = undefined;
    this.#silentSinceMs = undefined;
  }
}
