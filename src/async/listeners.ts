import { didYouMean } from "../did-you-mean.ts";
import { argumentError } from "../errors.ts";
import type { Place } from "../place.ts";

type Listener<Event> = (event: Event) => void;

/** Listeners by the name of their event. */
export class Listeners<Events extends object> {
  readonly #place: Place;
  readonly #byName: Map<unknown, Set<Listener<never>>>;

  /** `events` lists all events; others are refused. `place` is that of the structure whose `on` this serves. */
  constructor(place: Place, events: Record<keyof Events, true>) {
    this.#place = place;
    this.#byName = new Map(Object.keys(events).map((name) => [name, new Set()]));
  }

  /**
   * Returns a function that removes the listener. Throws ARGUMENT for an unknown event or a listener that is no
   * function.
   */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void {
    const listeners = this.#byName.get(name);
    if (!listeners || typeof listener !== "function") throw this.#place.error("on", this.#refusal(name, listener));
    listeners.add(listener as Listener<never>);
    return () => void listeners.delete(listener as Listener<never>);
  }

  /** Calls the listeners of an event. Returns whether there are any. */
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): boolean {
    const listeners = this.#byName.get(name)!;
    for (const listener of listeners)
      try {
        (listener as Listener<Events[Name]>)(event);
      } catch (error) {
        // As with an EventTarget, a listener's error reaches no other listener and is not swallowed.
        queueMicrotask(() => {
          throw error;
        });
      }
    return listeners.size > 0;
  }

  #refusal(name: unknown, listener: unknown): Error {
    if (this.#byName.has(name)) return argumentError("listener", listener, "a function");
    const known = [...this.#byName.keys()] as string[];
    const hint = typeof name === "string" ? didYouMean(name, known) : "";
    return argumentError("event", name, `one of ${known.join(", ")}${hint}`);
  }
}
