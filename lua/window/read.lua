#!lua flags=allow-oom
-- Answers what the caller lacks of one chunk, open or closed, at most one page.
-- A script: header, length and bytes are of one instant. It writes nothing, yet is no `no-writes` script, so that a
-- demoted primary refuses it instead of answering from a past that others have left.
-- KEYS  the chunk
-- ARGV  1 known (see answer), "" when only the header is wanted
-- Reply answer; status 0 here it is, 1 no such chunk, 6 unknown format
-- Cost  O(bytes answered)
-- @include window/answer
local keys_per_step = 1
local arguments_per_step = 1

local function step(k, a, now)
  local key = KEYS[k]
  local header = redis.call("GETRANGE", key, 0, header_bytes - 1)
  if header == "" then return answer(key, 1, now, "", 0, "", "") end
  local status = string.byte(header) == format and 0 or 6
  return answer(key, status, now, header, redis.call("STRLEN", key), "", status == 0 and ARGV[a] or "")
end
