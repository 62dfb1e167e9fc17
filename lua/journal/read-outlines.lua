#!lua flags=allow-oom
-- Returns the open chunk like read, and the closed chunks of a window as far as they are found: raw ones whole, of sealed ones the
-- outline, which exact statistics need first. read-parts then returns the parts of sealed chunks that are missing.
-- One atomic step: all of it is of one instant.
-- KEYS  the open chunk; closed ones are found by the number in its header (see closed-chunks)
-- ARGV  1 known (see missing-bytes) · 2 OUTLINE_QUERY (see outlines)
-- Reply as in outlines; status as for read
-- Cost  O(bytes answered), bounded by the lookback
-- @include journal/read
-- @include journal/outlines
local keys_per_step = 1
local arguments_per_step = 2
local read = step

local function step(k, a, now)
  return with_outlines(read(k, a, now), KEYS[k], now, ARGV[a + 1])
end
