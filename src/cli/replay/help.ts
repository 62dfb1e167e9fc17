/** The definition of the windows, as printed by `oriel replay --help`. */
export const REPLAY_HELP = `
Windows
  Windows end at the whole multiples T of --every since 1970 UTC. The window that ends at T holds the events with
  T - span < t <= T (--closed both: T - span <= t <= T). It is printed as soon as a time t with t - lateness > T is
  read. The end of the input prints the remaining windows, up to the first T at or after the latest event. Windows
  without events are printed only with --empty. An event that arrives after the print of a window that covers it counts
  in the later windows that cover it. The summary reports the number of such events, and of events too late for any
  window.

Input
  Times: ISO 8601, "2014-03-07 03:41:00" (UTC by default), epoch seconds or ms, access log times.
  Durations: 250ms 10s 5m 1h 7d, or a number of ms.
  Unreadable lines are counted. The first five are printed on stderr.

Exit status
  0 all lines were read · 1 some could not be read · 2 wrong usage, unreadable file, unreachable or failing Redis

Examples
  oriel replay access.log --key status-class --span 10m --every 1m --lateness 1m
  oriel replay latency.csv --percentiles 50,99,99.9 --plot latency.svg --unit ms
  tail -f events.ndjson | oriel replay - --time ts --value timing.total --span 1m --json
`;
