#!lua flags=allow-oom
-- Puts the sealed form of a closed chunk in its place: the same events, in fewer bytes.
-- One atomic step: the chunk that was read must still be the one that is replaced.
-- KEYS  1 the open chunk · 2 the closed chunk · 3 the closed chunk of the next number (one slot)
-- ARGV  1 the sealed form; its header is that of the chunk, with format 2 · 2 length of the chunk that was read
--       3 birth of the next chunk, open or closed, at the instant of that read
-- Reply u8: 0 done, 1 no such chunk, 2 it is sealed already, 3 another chunk, 4 the sealed form is not smaller
-- Law   Rotation draws the next chunk's birth when it closes this one. So that birth and this header fix every byte of the
--       chunk, also after a failover. Any other status has changed nothing, and so has a repeated call. The expiry stays.
--       Both forms of a chunk differ in length, so a reader sees that a page is of the other form.
-- Cost  O(bytes of the sealed form)
-- @include layouts/journal
-- @include journal/chunk
local keys_per_step = 3
local arguments_per_step = 3

local function header_of(key)
  return redis.call("GETRANGE", key, "0", CHUNK_LAST_BYTE_TEXT)
end

local function step(k, a, now)
  local open, closed, following = KEYS[k], KEYS[k + 1], KEYS[k + 2]
  local sealed, seen_length, seen_next = ARGV[a], tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local before = header_of(closed)
  if before == "" then return "\1" end
  if string.byte(before) == SEALED_FORMAT then return "\2" end
  local length = redis.call("STRLEN", closed)
  if #before < CHUNK_BYTES or string.byte(before) ~= FORMAT or string.byte(sealed) ~= SEALED_FORMAT
    or length ~= seen_length or string.sub(before, 2) ~= string.sub(sealed, 2, CHUNK_BYTES) then
    return "\3"
  end
  if #sealed >= length then return "\4" end
  local next = header_of(following)
  if next == "" then next = header_of(open) end
  if #next < CHUNK_BYTES then return "\3" end
  local chunk_ms, number, birth, retention = struct.unpack(CHUNK, before)
  local its_number, its_created, its_birth, its_birth_before = struct.unpack(CHUNK, next)
  if its_number ~= number + 1 or its_birth ~= seen_next or its_birth_before ~= birth then return "\3" end
  redis.call("SET", closed, sealed, "PXAT", whole(expiry_of(its_created, retention, chunk_ms)))
  return "\0"
end
