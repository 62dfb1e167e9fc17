type Listener<Told> = (told: Told) => void;

/** Listeners by the name of what they listen to. */
export class Listeners<Events extends object> {
  readonly #byName = new Map<keyof Events, Set<Listener<never>>>();

  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void {
    const listeners = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, listeners);
    listeners.add(listener as Listener<never>);
    return () => void listeners.delete(listener as Listener<never>);
  }

  tell<Name extends keyof Events>(name: Name, told: Events[Name]): void {
    for (const listener of this.#byName.get(name) ?? [])
      try {
        (listener as Listener<Events[Name]>)(told);
      } catch (error) {
        // As of an EventTarget: nobody else's affair, and nothing that is passed over.
        queueMicrotask(() => {
          throw error;
        });
      }
  }
}
