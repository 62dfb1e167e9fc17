import { Limiter, redisStore, slidingWindow } from "../../src/entries/index.ts";

/**
 * A process of fake-ticks.own.test.ts. Fakes of everything by which a client connects are on while its store is made and
 * called, as under the fakes of Jest and sinon. They run nothing. It prints what calls give once the real ones are back.
 */
const [url = ""] = process.argv.slice(2);
const real = { setTimeout, setImmediate, nextTick: process.nextTick };
await redisStore(url, { registry: false }).ready(); // the client's package is loaded
const fake = Object.assign(() => 0, { __promisify__: () => Promise.resolve() });
Object.assign(globalThis, { setTimeout: fake, setImmediate: fake });
process.nextTick = fake as never;
const store = redisStore(url, { registry: false });
const limiter = new Limiter(store, [slidingWindow({ limit: 100, span: "1h" })], { name: "fakes" });
const under = limiter.take("a").catch(({ code }) => code);
await new Promise<void>((resolve) => real.setTimeout(resolve, 50));
Object.assign(globalThis, { setTimeout: real.setTimeout, setImmediate: real.setImmediate });
process.nextTick = real.nextTick;
for (let i = 0; i < 3; i++)
  console.log((await limiter.take("a").catch(({ message }) => ({ allowed: message }))).allowed);
console.log(store.health.state);
void under;
process.exit(0);
