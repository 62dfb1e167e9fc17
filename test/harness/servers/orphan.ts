// A process of its own that starts a server, prints its port, and never stops it.
import { startRedis } from "./redis-server.ts";

const server = await startRedis({ tcp: true });
process.stdout.write(`${server.port}\n`);
setInterval(() => {}, 1000);
