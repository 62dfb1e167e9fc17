#!lua flags=allow-oom
-- Answers what the caller lacks of one chunk, open or closed, at most one page.
-- A script: header, length and bytes are of one instant. It writes nothing, yet is no `no-writes` script, so that a
-- demoted primary refuses it instead of answering from a past that others have left.
-- KEYS  the chunk
-- ARGV  1 known (see lacking), "" when only the header is wanted
-- Reply answer; status 0 here it is, 1 no such chunk, 6 unknown format
-- Cost  O(bytes answered)
-- @include journal/answer
-- @include journal/lacking
local keys_per_step = 1
local arguments_per_step = 1

local function step(k, a, now)
  local key = KEYS[k]
  local header = redis.call("GETRANGE", key, "0", CHUNK_LAST_BYTE_TEXT)
  if header == "" then return answer(1, now, "", 0, "", 0, 0, "") end
  if string.byte(header) ~= FORMAT then return answer(6, now, header, redis.call("STRLEN", key), "", 0, 0, "") end
  local length, continued, from, bytes = lacking(key, header, ARGV[a])
  return answer(0, now, header, length, "", continued, from, bytes)
end
