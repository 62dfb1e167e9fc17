import { didYouMean } from "../did-you-mean.ts";
import { argumentError, OrielError, reasonText } from "../errors.ts";
import type { Site } from "../site.ts";
import { warn } from "../warn.ts";
import { inThisContext } from "./context.ts";

const MAX_REASON = 1000;

type Listener<Event> = (event: Event) => void;
/** Makes the event that reports the error of a listener. */
type FailureOf<Events> = (error: OrielError) => "error" extends keyof Events ? Events["error"] : never;

/**
 * Listeners by the name of their event. A listener that throws, or whose promise rejects, disturbs nothing else: its
 * error goes to the listeners of `error`. If that does not work, because there are none or because it is one of them,
 * the process is warned once for each listener.
 */
export class Listeners<Events extends object> {
  readonly #site: Site;
  /** By the name of the event: each listener, and the same in the async context in which it was added. */
  readonly #byName: Map<unknown, Map<Listener<never>, Listener<never>>>;
  readonly #failureOf: FailureOf<Events> | undefined;
  readonly #warned = new WeakSet<Listener<never>>();

  /**
   * `events` lists all events; others are refused. `site` is that of the structure whose `on` this serves. Without
   * `failureOf` the errors of listeners are warnings only.
   */
  constructor(site: Site, events: Record<keyof Events, true>, failureOf?: FailureOf<Events>) {
    this.#site = site;
    this.#byName = new Map(Object.keys(events).map((name) => [name, new Map()]));
    this.#failureOf = failureOf;
  }

  /**
   * The listener is called in the async context of this call. Returns a function that removes it. Throws ARGUMENT for an
   * unknown event or a listener that is no function.
   */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void {
    const listeners = this.#byName.get(name);
    if (!listeners || typeof listener !== "function") throw this.#site.error("on", this.#refusal(name, listener));
    if (!listeners.has(listener as Listener<never>))
      listeners.set(listener as Listener<never>, inThisContext(listener as Listener<never>));
    return () => void listeners.delete(listener as Listener<never>);
  }

  /** Calls the listeners of an event. Returns whether there are any. */
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): boolean {
    const listeners = this.#byName.get(name)!;
    for (const [listener, bound] of listeners)
      try {
        const returned = (bound as Listener<Events[Name]>)(event) as unknown;
        if (typeof returned === "object" && returned !== null)
          Promise.resolve(returned).catch((error: unknown) => this.#report(name, listener, error));
      } catch (error) {
        this.#report(name, listener, error);
      }
    return listeners.size > 0;
  }

  /** The error of an `error` listener is not emitted again: it would fail again. */
  #report(name: keyof Events, listener: Listener<never>, cause: unknown): void {
    const text = `the listener of ${JSON.stringify(name)} failed: ${reasonText(cause).slice(0, MAX_REASON)}`;
    const error = this.#site.error("on", new OrielError("ARGUMENT", text, { cause })) as OrielError;
    if (name !== "error" && this.#failureOf && this.emit("error" as keyof Events, this.#failureOf(error))) return;
    if (this.#warned.has(listener)) return;
    this.#warned.add(listener);
    warn(error.message, error.code);
  }

  #refusal(name: unknown, listener: unknown): Error {
    if (this.#byName.has(name)) return argumentError("listener", listener, "a function");
    const known = [...this.#byName.keys()] as string[];
    const hint = typeof name === "string" ? didYouMean(name, known) : "";
    return argumentError("event", name, `one of ${known.join(", ")}${hint}`);
  }
}
