/** The view, as the part of the address after "#" names it. A link to it shows the same. */
export interface Route {
  /** Of a structure; undefined in the overview. */
  readonly kind: string | undefined;
  readonly name: string | undefined;
  /** The processes of the store, instead of the structures. */
  readonly isProcesses: boolean;
  readonly query: URLSearchParams;
}

/** A longer name stands in the address by its id, as "~id". */
const MAX_NAME = 300;

export function routeNow(): Route {
  const text = location.hash.replace(/^#\/?/, "");
  const at = text.indexOf("?");
  const [path, query] = at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  const slash = path.indexOf("/");
  const [kind, name] = slash < 0 ? [path, undefined] : [path.slice(0, slash), decoded(path.slice(slash + 1))];
  const isStructure = name !== undefined && kind !== "";
  return {
    kind: isStructure ? kind : undefined,
    name: isStructure ? name : undefined,
    isProcesses: name === undefined && kind === "processes",
    query: new URLSearchParams(query),
  };
}

/** The address of a structure. The choice of span goes along. */
export function addressOf({ kind, name, id }: { kind: string; name: string; id: string }, span: string | null): string {
  const own = encodeURIComponent(name);
  const query = span === null ? "" : `?span=${encodeURIComponent(span)}`;
  return `#/${kind}/${own.length > MAX_NAME || name.startsWith("~") ? `~${id}` : own}${query}`;
}

/** The present address with other parameters; null removes one. */
export function addressWith(values: Record<string, string | number | null>): string {
  const { query } = routeNow();
  for (const [name, value] of Object.entries(values))
    if (value === null || value === "") query.delete(name);
    else query.set(name, String(value));
  const path = location.hash.replace(/^#?/, "").replace(/\?.*$/s, "") || "/";
  const text = query.toString();
  return `#${path}${text === "" ? "" : `?${text}`}`;
}

/** Changes parameters of the address. The back button returns to the former view, unless `isMinor`. */
export function change(values: Record<string, string | number | null>, isMinor = false): void {
  const address = addressWith(values);
  if (address === location.hash) return;
  if (isMinor) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  dispatchEvent(new Event("oriel:route"));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // typed by hand
  }
}
