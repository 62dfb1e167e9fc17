import { connect, createServer, type Socket } from "node:net";

export interface SqlProxy {
  readonly port: number;
  /**
   * The next connection that sends a packet with this text loses the answer: the server has done its work, then the
   * connection is cut, or stays and is silent. Resolves when that has happened.
   */
  loseAnswerTo(text: string, then?: "cut" | "silence"): Promise<void>;
  /** Number of open connections. */
  open(): number;
  close(): Promise<void>;
}

/** A TCP proxy before a database on loopback. */
export async function startSqlProxy(serverPort: number): Promise<SqlProxy> {
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let loss: { text: string; then: "cut" | "silence"; done: () => void } | undefined;

  const proxy = createServer((client) => {
    const server = connect(serverPort, "127.0.0.1");
    let lost: typeof loss;
    const end = () => {
      clients.delete(client);
      for (const socket of [client, server]) {
        sockets.delete(socket);
        socket.destroy();
      }
    };
    clients.add(client);
    client.on("data", (chunk) => {
      if (loss && chunk.includes(loss.text)) {
        lost = loss;
        loss = undefined;
      }
      server.write(chunk);
    });
    server.on("data", (chunk) => {
      if (!lost) return client.write(chunk);
      if (lost.then === "cut") end();
      lost.done();
    });
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", end);
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as { port: number };
  return {
    port,
    loseAnswerTo: (text, then = "cut") =>
      new Promise((done) => {
        loss = { text, then, done };
      }),
    open: () => clients.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
