#!lua flags=allow-oom
-- Returns the bytes that the caller is missing of one chunk, open, closed or sealed, at most one page.
-- A caller that has all of the chunk before it was sealed gets its length and no bytes; others the sealed bytes from 0.
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

-- Whether `known` names the end that the chunk had before it was sealed. SEALED has the length, the place of the last frame, and its header.
local function is_raw_end(key, header, known)
  if known == "" or string.sub(known, 1, KNOWN_LENGTH_AT) ~= string.sub(header, CHUNK_NUMBER_AT + 1, CHUNK_CREATED_MS_AT)
    .. string.sub(header, CHUNK_BIRTH_AT + 1, CHUNK_BIRTH_BEFORE_AT) then
    return false
  end
  return string.sub(known, KNOWN_LENGTH_AT + 1) == redis.call("GETRANGE", key, CHUNK_BYTES, CHUNK_BYTES + SEALED_CHECKSUM_AT - 1)
end

local function read_sealed(key, header, known, now)
  if is_raw_end(key, header, known) then
    local length = struct.unpack(KNOWN, known)
    return answer(0, now, header, length, "", 1, length, "")
  end
  if known ~= "" then
    local birth = struct.unpack(KNOWN, known)
    -- Birth 0 requests any page. To all others the first one is due.
    if birth ~= 0 then known = string.rep("\0", #known) end
  end
  local length, _, from, bytes = missing_bytes(key, header, known)
  return answer(0, now, header, length, "", 0, from, bytes)
end

local function step(k, a, now)
  local key = KEYS[k]
  local header = redis.call("GETRANGE", key, "0", CHUNK_LAST_BYTE_TEXT)
  if header == "" then return answer(1, now, "", 0, "", 0, 0, "") end
  if string.byte(header) == SEALED_FORMAT then return read_sealed(key, header, ARGV[a], now) end
  if string.byte(header) ~= FORMAT then return answer(6, now, header, redis.call("STRLEN", key), "", 0, 0, "") end
  local length, continued, from, bytes = missing_bytes(key, header, ARGV[a])
  return answer(0, now, header, length, "", continued, from, bytes)
end
