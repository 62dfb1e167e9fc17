#!lua flags=allow-oom
-- Computes statistics of one window inside the server. window-stats has the details.
-- One atomic step: the chunks are of one instant, and some hundred bytes leave the server.
-- KEYS  1 the open chunk · 2 ... 7 closed chunks, newest first; unused ones: the open one
-- ARGV  1 the query, 32 bytes · 2 percentiles, f64 each, ascending
-- Reply status, header of the open chunk, moments, five order statistics per percentile
-- Cost  O(bytes of the chunks), bounded
-- @include summary/window-stats
local keys_per_step = 8
local arguments_per_step = 2

local function step(k, a, now)
  return window_stats(k, a, now)
end
