import { program } from "./command.ts";

/** Runs the dashboard's command until it has printed its address, and stops it after `use`. */
export async function served(redisUrl: string, args: string[], use: (address: string) => Promise<void>) {
  let used: Promise<void> | undefined;
  const ended = await program(["dashboard", "--port", "0", "--redis", redisUrl, ...args], (stdout, child) => {
    const [address] = /http:\S+/.exec(stdout) ?? [];
    if (address === undefined || used) return;
    used = use(address).finally(() => child.kill("SIGINT"));
    used.catch(() => {}); // thrown below
  });
  await used;
  return ended;
}
