import { CLIENT_REASONS, CLOSES, CLOSES_TLS, NO_TLS, NOT_WHOLE, SILENT, UNREACHED } from "./client-reasons.ts";
import { addReasons, reasonOf } from "./reason.ts";

/** A connection is silent after this time without a byte. Until then the error of the previous one stays valid. */
const SILENT_AFTER_MS = 1000;

/**
 * The reason why a connection cannot be used, from a client's events. If a server accepts connections and then refuses
 * them, clients reconnect repeatedly. Between two refusals the last reason is valid.
 *
 *   connected │ a reason why the server was unreachable ends
 *   failed    │ the reason; an unknown one does not replace a known one
 *   closed    │ `closes`, if no error came before
 *   ready     │ no reason
 */
export class LastError {
  readonly #unreached: string;
  readonly #closes: string;
  #error: Error | undefined;
  /** The server's words about a connection that it then closed. The next ones may be cut before such words are read. */
  refusal: Error | undefined;
  /** Whether the error is a known reason that came on an open connection. */
  #isOfConnection = false;
  #isConnected = false;
  /** Since when the open connection has been silent. */
  #silentSinceMs: number | undefined;
  #isOpening = true;

  /** `unreached`: the reason before the first connection or error. `isTls`: of the connections. */
  constructor(unreached: string, isTls = false) {
    addReasons(CLIENT_REASONS);
    this.#unreached = unreached;
    this.#closes = isTls ? CLOSES_TLS : CLOSES;
  }

  get current(): Error | undefined {
    const sinceMs = this.#silentSinceMs;
    if (sinceMs === undefined) return this.#error;
    return performance.now() - sinceMs >= SILENT_AFTER_MS ? new Error(SILENT) : (this.#error ?? new Error(UNREACHED));
  }

  /** Whether no connection was ready and none has failed so far. */
  get isOpening(): boolean {
    return this.#isOpening;
  }

  /** The reason; while connecting at least `unreached`, because some clients report none. */
  orWhileConnecting(isConnecting: boolean): Error | undefined {
    const { current } = this;
    return isConnecting && !reasonOf(current) ? new Error(this.#unreached, { cause: current }) : current;
  }

  /** Whether the connection is open, and the server has sent nothing on it. */
  get isSilent(): boolean {
    return this.#silentSinceMs !== undefined;
  }

  /** The reason if a connection closes before the server has sent anything. */
  get cut(): Error {
    return this.refusal ?? new Error(this.#closes);
  }

  connected(): void {
    if (!this.#isOfConnection) this.#error = undefined;
    this.#isConnected = true;
    this.#silentSinceMs = performance.now();
  }

  failed(error: Error): void {
    this.#silentSinceMs = undefined;
    // Until a cluster's client has asked for the cluster's state, that is the error.
    if (error.message !== NOT_WHOLE) this.#isOpening = false;
    // A client that gives up a handshake names the time, and not what it waited for.
    if (this.#unreached === NO_TLS && /\bETIMEDOUT\b/.test(error.message)) error = new Error(NO_TLS, { cause: error });
    const reason = reasonOf(error);
    // Clients also report that they gave up, which says less than why.
    if (!reason && reasonOf(this.#error)) return;
    this.#error = error;
    this.#isOfConnection = this.#isConnected && reason !== undefined;
  }

  closed(): void {
    if (this.isSilent) this.failed(this.cut);
    this.#isConnected = false;
  }

  ready(): void {
    this.refusal = undefined;
    this.#error = undefined;
    this.#silentSinceMs = undefined;
    this.#isOpening = false;
  }
}
