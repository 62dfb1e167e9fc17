// Records the latencies of the demo's own server as a CSV: npx tsx test/data/record-demo.ts SECONDS > demo-latency.csv
import { startServer } from "../../src/command/demo/demo-server.ts";
import { Traffic } from "../../src/command/demo/demo-traffic.ts";

const seconds = Number(process.argv[2] ?? 10);

async function record(): Promise<void> {
  const server = await startServer(0);
  process.stdout.write("timestamp,latency_ms\n");
  const traffic = new Traffic(server.url, 300, async (latencyMs) => {
    process.stdout.write(`${Date.now()},${latencyMs.toFixed(3)}\n`);
  });
  await traffic.run(AbortSignal.timeout(seconds * 1000));
  await server.close();
}

record();
