import type { WatchedStore } from "../../entries/index.ts";
import { dashboard } from "../../entries/structures/dashboard.ts";
import { isTaken, type Listening, listen } from "../dashboard/listen.ts";

const HOST = "127.0.0.1";
const USUAL_PORT = 4680;

/** Serves the dashboard of a store on loopback: at the port of `oriel dashboard`, or at a free one if that is taken. */
export async function serveBoard(
  store: WatchedStore,
  onError: (error: unknown) => void,
): Promise<Pick<Listening, "close"> & { address: string }> {
  const board = dashboard(store);
  const { port, close } = await listen(board, USUAL_PORT, HOST, onError).catch((error: unknown) => {
    if (!isTaken(error)) throw error;
    return listen(board, 0, HOST, onError);
  });
  return { address: `http://${HOST}:${port}/`, close };
}
