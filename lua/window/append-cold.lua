#!lua
-- Appends as append does, and answers with the open chunk the closed ones that a window needs, as far as they are found.
-- A script: `recordAndGet` of a process that holds nothing is one request.
-- KEYS  the open chunk; closed ones are found by the number in its header (see older)
-- ARGV  1 to 4 as of append · 5 reach (see older) · 6 not before, server ms, as text
-- Reply as older says; status and law of append; status 5 also before ARGV 6, then without header
-- Law   not before and void after bound the time within which all copies are taken, whatever the caller's clock shows
-- Cost  as append and cold
-- @include window/append
-- @include window/older
local keys_per_step = 1
local arguments_per_step = 6
local ANSWER_BYTES = 24
local append = step

local function step(k, a, now)
  if now < tonumber(ARGV[a + 5]) then
    return struct.pack("<I4", ANSWER_BYTES) .. answer(5, now, "", 0, "", 0, 0, "")
  end
  return with_older(append(k, a, now), KEYS[k], now, ARGV[a + 4])
end
