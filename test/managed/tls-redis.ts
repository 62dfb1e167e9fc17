import { Redis } from "ioredis";
import { freePort, type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { type Certificates, makeCertificates, tlsArguments } from "./certificates.ts";

export interface TlsRedis {
  readonly certificates: Certificates;
  /** The port without TLS. */
  readonly plain: RedisServer;
  readonly tlsPort: number;
  /** Whether clients must have a certificate, for connections from now on. */
  authClients(must: "yes" | "no"): Promise<void>;
  stop(): Promise<void>;
}

/** A server with a port without TLS and one with TLS. */
export async function startTlsRedis(): Promise<TlsRedis> {
  const certificates = makeCertificates();
  const plain = await startRedis({ tcp: true, args: tlsArguments(certificates, "no") });
  const raw = new Redis(plain.url);
  const tlsPort = await freePort();
  await raw.config("SET", "tls-port", tlsPort);
  return {
    certificates,
    plain,
    tlsPort,
    authClients: async (must) => void (await raw.config("SET", "tls-auth-clients", must)),
    async stop() {
      raw.disconnect();
      await plain.stop();
      certificates.remove();
    },
  };
}
