#!lua flags=allow-oom
-- Lists the permits of a semaphore that are in use. Changes nothing.
-- KEYS  1 the permits in use (lua/semaphore/acquire.lua)
-- ARGV  none
-- Reply HOLDS, with the number of all, then for each of the MAX_LISTED_PERMITS that end first: ms until its end, a space, its
--       member, a line break. Line breaks within a member are sent as spaces
-- Law   all are from one moment.
-- Cost  O(log permits in use + listed)
-- @include layouts/semaphore
local keys_per_step = 1
local arguments_per_step = 0

local function step(k, a, now)
  local from, lines = string.format("%.0f", now), {}
  local listed = redis.call("ZRANGE", KEYS[k], from, "+inf", "BYSCORE", "LIMIT", 0, MAX_LISTED_PERMITS, "WITHSCORES")
  for i = 1, #listed, 2 do
    lines[#lines + 1] = string.format("%.0f", listed[i + 1] - now) .. " " .. string.gsub(listed[i], "\n", " ") .. "\n"
  end
  return struct.pack(HOLDS, redis.call("ZCOUNT", KEYS[k], from, "+inf")) .. table.concat(lines)
end
