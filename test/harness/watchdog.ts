import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

/** Reads "+ pid" and "- pid". When its input ends, because the writer is gone, it kills the remaining processes. */
const SCRIPT = `
pids=" "
while read -r sign pid; do
  case $sign in
    +) pids="$pids$pid " ;;
    -) pids="\${pids%% $pid *} \${pids#* $pid }" ;;
  esac
done
[ "$pids" = " " ] || kill -KILL $pids 2>/dev/null
`;

let input: Socket | undefined;

function write(line: string): void {
  if (!input) {
    const dog = spawn("sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true });
    dog.unref();
    input = dog.stdin as Socket;
    input.on("error", () => {});
    input.unref();
  }
  input.write(`${line}\n`);
}

/** From now on the process dies with this one at the latest, also when this one is killed with SIGKILL. */
export function watch(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  write(`+ ${pid}`);
  child.once("exit", () => write(`- ${pid}`));
}
