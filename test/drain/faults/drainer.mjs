// A process that drains until it is killed, by itself at a step ("counter/freeze before", "apply after", ...) or from
// outside. It runs what was built: a process of TypeScript takes a second to begin.
// Arguments: Redis, PostgreSQL, JSON of { name, dimensions, shards }, step or "".
import pg from "pg";
import { Counters, DrainService, redisStore } from "../../../dist/index.js";
import { postgresSink } from "../../../dist/sql.js";

const [redisUrl, postgresUrl, shape, step] = process.argv.slice(2);
const { name, ...options } = JSON.parse(shape);
const die = (here) => here === step && process.kill(process.pid, "SIGKILL");

const real = redisStore(redisUrl);
const store = {
  ...real,
  async run(operation, ...rest) {
    die(`${operation.name} before`);
    const output = await real.run(operation, ...rest);
    die(`${operation.name} after`);
    return output;
  },
};
const pool = new pg.Pool({ connectionString: postgresUrl, max: 4 });
const sink = postgresSink({
  async connect() {
    const client = await pool.connect();
    return new Proxy(client, {
      get(target, property) {
        const value = Reflect.get(target, property);
        if (property !== "query") return typeof value === "function" ? value.bind(target) : value;
        return async (...query) => {
          const text = query[0]?.text ?? query[0];
          const kind = /\b(BEGIN|COMMIT|INSERT)\b/.exec(text)?.[1];
          die(`${kind} before`);
          const answer = await target.query(...query);
          die(`${kind} after`);
          return answer;
        };
      },
    });
  },
});
const service = new DrainService({ counters: new Counters(store, name, options), sink });
service.on("diverged", (reported) => console.log(JSON.stringify({ diverged: reported })));
console.log("ready");
for (;;) {
  await service.drainOnce().catch((error) => console.log(JSON.stringify({ error: String(error) })));
  await new Promise((resolve) => setTimeout(resolve, 5));
}
