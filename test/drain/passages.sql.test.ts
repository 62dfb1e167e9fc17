import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Cluster } from "ioredis";
import pg from "pg";
import { expect, test } from "vitest";
import { Counters } from "../../src/counters/counter/counters.ts";
import { DrainService } from "../../src/counters/drain/drain-service.ts";
import { postgresSink } from "../../src/entries/sql.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { passages } from "../counter/passages.mjs";
import { dataFolders } from "../data/folders.ts";
import { startPostgres } from "../harness/servers/postgres.ts";
import { startCluster } from "../harness/servers/redis-cluster.ts";

const COUNTER = fileURLToPath(new URL("../counter/passage-counter.mjs", import.meta.url));
const WORKERS = 4;

test.each(dataFolders.slice(-1))(
  "passages of $name files, counted by four processes on a cluster under a drain, equal a count in SQL",
  async ({ folder }) => {
    const [cluster, postgres] = await Promise.all([startCluster(3), startPostgres()]);
    const client = new Cluster([cluster.url]);
    const store = redisStore(client, { deadline: 20_000 });
    const pool = new pg.Pool({ connectionString: postgres.url, max: 4 });
    try {
      const flow = new Counters(store, "passages", { dimensions: ["site", "lane", "direction"], shards: 16 });
      const sink = postgresSink(pool, { table: "passages" });
      const drain = new DrainService({ counters: flow, sink, every: 500 });
      const wrong: unknown[] = [];
      drain.on("diverged", (reported) => void wrong.push(reported));
      await drain.start();
      const outputs = await Promise.all(
        Array.from({ length: WORKERS }, (_, i) =>
          promisify(execFile)(process.execPath, [COUNTER, cluster.url, folder, `${i}`, `${WORKERS}`]),
        ),
      );
      await drain.stop();
      await drain.drainOnce();
      expect(wrong).toEqual([]);
      expect(await flow.read()).toEqual([]);

      await pool.query("CREATE TABLE events (site text, lane text, direction text, at timestamptz, count bigint)");
      let sent = 0;
      for (const chunk of chunks(passages(folder, 0, 1), 50_000)) {
        sent += chunk.length;
        const columns = [0, 1, 2, 3, 4].map((column) => chunk.map((event) => event[column]));
        await pool.query(
          `INSERT INTO events SELECT s, l, d, to_timestamp(a / 1000.0), c
           FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[]) AS e(s, l, d, a, c)`,
          columns,
        );
      }
      expect(outputs.reduce((sum, { stdout }) => sum + Number(stdout), 0)).toBe(sent);
      expect(sent).toBeGreaterThan(2_000_000);
      const { rows } = await pool.query(
        `WITH direct AS (
           SELECT b AS bucket, date_trunc(b, at, 'UTC') AS start, site, lane, direction, sum(count)::bigint AS count
           FROM events, unnest(ARRAY['minute', 'hour', 'day']) AS b GROUP BY 1, 2, 3, 4, 5),
         counted AS (SELECT bucket, start_at, site, lane, direction, count FROM passages)
         SELECT (SELECT count(*) FROM direct) AS rows,
           (SELECT count(*) FROM (TABLE direct EXCEPT TABLE counted) AS a) AS missing,
           (SELECT count(*) FROM (TABLE counted EXCEPT TABLE direct) AS b) AS surplus`,
      );
      expect(rows[0]).toMatchObject({ missing: "0", surplus: "0" });
      expect(Number(rows[0].rows)).toBeGreaterThan(20_000);
    } finally {
      client.disconnect();
      await pool.end();
      await Promise.all([cluster.stop(), postgres.stop()]);
    }
  },
);

function* chunks<Item>(items: Iterable<Item>, length: number): Generator<Item[]> {
  let chunk: Item[] = [];
  for (const item of items) {
    chunk.push(item);
    if (chunk.length < length) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
