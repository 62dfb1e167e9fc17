import { deferred } from "../../base/async/deferred.ts";
import { serverError } from "../../store/delivery/client.ts";
import { NO_TLS, SILENT, UNREACHED } from "../../store/health/client-reasons.ts";
import { LastError } from "../../store/health/last-error.ts";
import { isFinal, reasonOf } from "../../store/health/reason.ts";
import { factsOf } from "../../store/redis/client-facts.ts";
import type { IoredisClient } from "../../store/redis/ioredis-client.ts";
import { withoutSecrets } from "../../store/secrets.ts";
import type { Connection, DoctorTarget, NodeAddress } from "./connection.ts";

/** A client of ioredis, not connected yet, that neither queues nor repeats commands and does not reconnect. */
export interface SingleClient extends Omit<IoredisClient, "call"> {
  call(command: string, args: string[]): Promise<unknown>;
}

/** A server over TCP. `clientOf` makes a client for it, or for another node with the same credentials. */
export function tcpTarget(
  clientOf: (node?: NodeAddress) => SingleClient,
  rest: Pick<DoctorTarget, "openStore" | "prefix">,
): DoctorTarget {
  const sample = clientOf();
  const { username } = (sample.options ?? {}) as { username?: string | null };
  return { ...factsOf(sample), user: username ?? undefined, open: (node) => tcpConnection(clientOf(node)), ...rest };
}

/** A connection over TCP. It connects with its first command. */
function tcpConnection(client: SingleClient): Connection {
  const { secrets, isTls } = factsOf(client);
  const lastError = new LastError(isTls ? NO_TLS : UNREACHED, isTls);
  const refused = deferred<never>();
  refused.promise.catch(() => {});
  client.on("error", (error) => {
    const reason = withoutSecrets(error, secrets);
    if (lastError.current && !reasonOf(reason)) return;
    lastError.failed(reason);
    // A missing database or a wrong password: commands would still be sent.
    if (isFinal(reason)) refused.reject(reason);
  });
  client.on("connect", () => lastError.connected());
  client.on("close", () => lastError.closed());
  client.on("ready", () => {
    if (!isFinal(lastError.current)) lastError.ready();
  });
  let connecting: Promise<unknown> | undefined;
  const send = async (words: readonly string[]) => {
    connecting ??= client.connect();
    try {
      await Promise.race([connecting, refused.promise]);
      const [name = "", ...args] = words; // ioredis recognizes SUBSCRIBE in lower case only
      return await Promise.race([client.call(name.toLowerCase(), args), refused.promise]);
    } catch (error) {
      if ((error as Error).name !== "ReplyError" || lastError.current) throw withoutSecrets(error, secrets);
      return serverError(error as Error, secrets);
    }
  };
  return {
    get lastError() {
      const known = lastError.orWhileConnecting(client.status === "connecting");
      // The doctor reads this after its deadline. By then the server was asked, so a connection without an answer is a silent one.
      return lastError.isSilent && known?.message === UNREACHED ? new Error(SILENT) : known;
    },
    send,
    async subscribe(channel, listener) {
      client.on("message", listener);
      return send(["SUBSCRIBE", channel]);
    },
    close: () => client.disconnect(),
  };
}
