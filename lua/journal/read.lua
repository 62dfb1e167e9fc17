#!lua flags=allow-oom
-- Returns the bytes that the caller is missing of one chunk, open or closed, at most one page.
-- One atomic step: header, length and bytes are of one instant. It writes nothing but has no flag `no-writes`, so that a
-- demoted primary refuses it instead of answering with old data.
-- KEYS  the chunk
-- ARGV  1 known (see missing-bytes), "" for the header only
-- Reply answer; status 0 found, 1 no such chunk, 6 unknown format
-- Cost  O(bytes answered)
-- @include journal/answer
-- @include journal/missing-bytes
local keys_per_step = 1
local arguments_per_step = 1

local function step(k, a, now)
  local key = KEYS[k]
  local header = redis.call("GETRANGE", key, "0", CHUNK_LAST_BYTE_TEXT)
  if header == "" then return answer(1, now, "", 0, "", 0, 0, "") end
  if string.byte(header) ~= FORMAT then return answer(6, now, header, redis.call("STRLEN", key), "", 0, 0, "") end
  local length, continued, from, bytes = missing_bytes(key, header, ARGV[a])
  return answer(0, now, header, length, "", continued, from, bytes)
end
