#!lua flags=allow-oom
-- Returns the open chunk like read, and the closed chunks of a window, as far as they are found.
-- One atomic step: one request for a process without a copy. All chunks are of one instant.
-- KEYS  the open chunk; closed ones are found by the number in its header (see closed-chunks)
-- ARGV  1 known (see missing-bytes) · 2 lookback (see closed-chunks)
-- Reply as in closed-chunks; status as for read
-- Cost  O(bytes answered), bounded by the lookback; up to twice the cost of read per byte
-- @include journal/read
-- @include journal/closed-chunks
local keys_per_step = 1
local arguments_per_step = 2
local read = step

local function step(k, a, now)
  return with_closed_chunks(read(k, a, now), KEYS[k], now, ARGV[a + 1])
end
