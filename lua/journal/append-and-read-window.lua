#!lua
-- Appends like append, and returns the open chunk and the closed chunks of a window, as far as they are found.
-- One atomic step: `recordAndGet` of a process without a copy is one request.
-- KEYS  the open chunk; closed ones are found by the number in its header (see closed-chunks)
-- ARGV  1 to 4 as for append · 5 lookback (see closed-chunks)
-- Reply as in closed-chunks; status and law as for append
-- Cost  as for append and read-window
-- @include journal/append
-- @include journal/closed-chunks
local keys_per_step = 1
local arguments_per_step = 5
local append = step

local function step(k, a, now)
  return with_closed_chunks(append(k, a, now), KEYS[k], now, ARGV[a + 4])
end
