// A process of the storm: node --import ./bench/typescript.mjs bench/storms/child.ts <job> <contender> <process> <url> <service> <journal>
// It gets "ending", "over", or a number of ms by which its clock jumps.
import { appendFileSync } from "node:fs";

const [job, contender, number, url, service, journal] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
let aheadMs = 0;
let [isEnding, isOver] = [false, false];
process.on("message", (message) => {
  isEnding ||= message === "ending";
  isOver ||= message === "over";
  if (Number.isFinite(Number(message))) aheadMs += Number(message);
});
process.on("disconnect", () => process.exit());

// Before any package is loaded: the clock of the machine, which somebody sets.
const RealDate = Date;
const now = () => RealDate.now() + aheadMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
});

const { CONTENDERS } = await import("./contenders.ts");
await CONTENDERS[job]![contender]!({
  ...{ url, service, process: Number(number) },
  now: () => Number(process.hrtime.bigint()) / 1e6,
  isOver: () => isOver,
  isEnding: () => isEnding,
  say(entry) {
    appendFileSync(journal, `${JSON.stringify(entry)}\n`);
    if (entry.kind === "entered" || entry.kind === "begun" || entry.kind === "admitted") process.send?.("busy");
  },
});
process.exit();
