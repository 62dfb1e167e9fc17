/** Called with each message on a channel, or without one if messages on it may have been missed. */
export type Listener = (message?: string) => void;

/** Listeners by channel. */
export class Channels {
  readonly #listeners = new Map<string, Set<Listener>>();

  get names(): string[] {
    return [...this.#listeners.keys()];
  }

  has(channel: string): boolean {
    return this.#listeners.has(channel);
  }

  add(channel: string, listener: Listener): void {
    const listeners = this.#listeners.get(channel);
    if (listeners) listeners.add(listener);
    else this.#listeners.set(channel, new Set([listener]));
  }

  delete(channel: string, listener: Listener): void {
    const listeners = this.#listeners.get(channel);
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#listeners.delete(channel);
  }

  call(channel: string, message?: string): void {
    for (const listener of [...(this.#listeners.get(channel) ?? [])]) listener(message);
  }

  /** Calls each listener, because no message will come. */
  callAll(): void {
    for (const channel of this.names) this.call(channel);
  }
}
