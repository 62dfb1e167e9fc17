#!lua
-- Appends like append, and returns the open chunk and the closed chunks of a window like read-outlines.
-- One atomic step: `recordAndGet` of a process without a copy is one request if no chunk of its window is sealed.
-- KEYS  the open chunk; closed ones are found by the number in its header (see closed-chunks)
-- ARGV  1 to 4 as for append · 5 OUTLINE_QUERY (see outlines)
-- Reply as in outlines; status and law as for append
-- Cost  as for append and read-outlines
-- @include journal/append
-- @include journal/outlines
local keys_per_step = 1
local arguments_per_step = 5
local append = step

local function step(k, a, now)
  return with_outlines(append(k, a, now), KEYS[k], now, ARGV[a + 4])
end
