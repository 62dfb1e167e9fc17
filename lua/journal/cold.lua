#!lua flags=allow-oom
-- Answers the open chunk as read does, and with it the closed chunks that a window needs, as far as they are found.
-- A script: one request for who holds nothing; all chunks are of one instant.
-- KEYS  the open chunk; closed ones are found by the number in its header (see older)
-- ARGV  1 known (see lacking) · 2 reach (see older)
-- Reply as older says; status of read
-- Cost  O(bytes answered), bounded by reach; per byte up to twice what read costs
-- @include journal/read
-- @include journal/older
local keys_per_step = 1
local arguments_per_step = 2
local read = step

local function step(k, a, now)
  return with_older(read(k, a, now), KEYS[k], now, ARGV[a + 1])
end
