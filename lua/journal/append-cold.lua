#!lua
-- Appends as append does, and answers with the open chunk the closed ones that a window needs, as far as they are found.
-- A script: `recordAndGet` of a process that holds nothing is one request.
-- KEYS  the open chunk; closed ones are found by the number in its header (see older)
-- ARGV  1 to 4 as of append · 5 reach (see older)
-- Reply as older says; status and law of append
-- Cost  as append and cold
-- @include journal/append
-- @include journal/older
local keys_per_step = 1
local arguments_per_step = 5
local append = step

local function step(k, a, now)
  return with_older(append(k, a, now), KEYS[k], now, ARGV[a + 4])
end
