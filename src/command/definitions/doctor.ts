import { Command, Option } from "commander";
import { type DoctorTyped, doctor } from "../doctor/doctor.ts";
import type { Streams } from "../output.ts";

const HELP = `
The last check is of the command itself: the kernel that computes statistics (wasm-simd, wasm-scalar or js), and whether a
faster one works here.

Exit status: 0 good, 1 degraded (oriel works, with a loss that a line names,
or a check could not be made), 2 unusable.

Examples:
  oriel doctor --redis redis://127.0.0.1:6379
  REDIS_URL=rediss://app:password@host:6379 oriel doctor     # no password in the list of processes
  oriel doctor --redis rediss://host:6379 --tls-ca ca.pem    # a server with an authority of its own
  oriel doctor --redis redis://a:6379,redis://b:6379 --json  # a cluster
`;

export function doctorCommand(streams: Streams, end: (status: number) => void): Command {
  return new Command("doctor")
    .description("Examine a server: its name, settings and restrictions, and what to change.")
    .addOption(new Option("--redis <url>", "the server, or nodes of a cluster separated by commas").env("REDIS_URL"))
    .option(
      "--url <url>",
      "instead of --redis: a REST server; UPSTASH_REDIS_REST_TOKEN of the environment is its token",
    )
    .option("--tls-ca <file>", "for rediss://: the authority that signed the server's certificate (PEM)")
    .option("--tls-cert <file>", "for rediss://: this client's certificate (PEM)")
    .option("--tls-key <file>", "for rediss://: the key of --tls-cert (PEM)")
    .option("--deadline <duration>", "longest time of each probe", "2s")
    .option("--json", "print one JSON object")
    .option("--prefix <prefix>", "prefix of the keys that the probes write; they expire within 10 s")
    .addHelpText("after", HELP)
    .action(async (typed: DoctorTyped) => end(await doctor(typed, streams)));
}
