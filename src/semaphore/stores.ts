import { argumentError } from "../errors.ts";
import { Place, placeOf } from "../place.ts";
import type { Store } from "../store/contract.ts";

/** The place of a structure on several servers. Throws ARGUMENT for wrong stores or a wrong name. */
export function placeOfStores(structure: string, stores: readonly Store[], name: string, least: number): Place {
  const place = new Place(structure, name);
  place.checked(undefined, () => {
    if (!Array.isArray(stores) || stores.length < least)
      throw argumentError("stores", stores, `an array of at least ${least} ${least === 1 ? "store" : "stores"}`);
    if (new Set(stores).size < stores.length)
      throw argumentError("stores", stores, "stores of different servers; one is there twice");
  });
  const places = stores.map((store) => placeOf(structure, store, name));
  // Errors of several servers name none.
  return places.length === 1 ? places[0]! : place;
}
