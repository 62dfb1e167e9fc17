import { ServerError } from "../../store/delivery/client.ts";
import { HttpCommand } from "../../store/http/http-command.ts";
import { type HttpServer, sendCommands } from "../../store/http/http-request.ts";
import type { Connection, DoctorTarget } from "./connection.ts";

/** A server behind the REST protocol of Upstash Redis. */
export function httpTarget(server: HttpServer, rest: Pick<DoctorTarget, "openStore" | "prefix">): DoctorTarget {
  const isTls = server.url.startsWith("https:");
  const secrets = [server.token];
  return { address: server.url, isTls, user: undefined, secrets, open: () => httpConnection(server), ...rest };
}

/** One request for each command. No subscriptions. */
function httpConnection(server: HttpServer): Connection {
  const open = new Set<HttpCommand>();
  let lastError: Error | undefined;
  return {
    get lastError() {
      return lastError;
    },
    async send(words) {
      const command = HttpCommand.of(...words);
      open.add(command);
      command.whenEnded(() => open.delete(command));
      sendCommands(server, [command]);
      try {
        return textOf(await command.reply);
      } catch (error) {
        if (error instanceof ServerError && !isOfHttp(error)) return error;
        lastError = error as Error;
        throw error;
      }
    },
    close() {
      for (const command of open) command.abandon();
    },
  };
}

/** The answer of an HTTP server that refuses the request, and not of Redis. */
function isOfHttp({ message }: ServerError): boolean {
  return /^(?:HTTP \d|the token was refused)/.test(message);
}

const decoder = new TextDecoder();

function textOf(reply: unknown): unknown {
  if (reply instanceof Uint8Array) return decoder.decode(reply);
  return Array.isArray(reply) ? reply.map(textOf) : reply;
}
