/** The definition of the windows, as printed by `oriel replay --help`. */
export const REPLAY_HELP = `
Windows
  Windows end at the whole multiples T of --every since 1970 UTC. The window that ends at T holds the events with
  T - span < t <= T (--closed both: T - span <= t <= T). It is printed as soon as a time t with t - lateness > T has
  been read; at the end of the input the windows that are left are printed, up to the first T at or after the latest
  event. Windows without events are printed only with --empty. An event that comes after a window that covers it was
  printed counts in the later windows that cover it; the summary says how many there were, and how many came too late
  for any.

Input
  Times: ISO 8601, "2014-03-07 03:41:00" (UTC unless a zone is named), epoch seconds or ms, access log times.
  Durations: 250ms 10s 5m 1h 7d, or a number of ms.
  Lines that cannot be read are counted, and the first five told on stderr.

Exit status
  0 all lines were read · 1 some could not be read · 2 wrong usage, unreadable file, unreachable or failing Redis

Examples
  oriel replay access.log --key status-class --span 10m --every 1m --lateness 1m
  oriel replay latency.csv --percentiles 50,99,99.9 --plot latency.svg --unit ms
  tail -f events.ndjson | oriel replay - --time ts --value timing.total --span 1m --json
`;
