#!lua
-- Closes the open chunk of a series: copies it without spare capacity to its number's key, and begins the next one.
-- One atomic step: two rotations of one chunk, or an append between copy and new chunk, would lose frames.
-- KEYS  1 the open chunk · 2 the closed chunk of ARGV 1's number (one slot)
-- ARGV  1 number seen · 2 birth seen · 3 random u32, from which the next chunk's birth is made
-- Reply answer without bytes about the open chunk after the call; status 0, 1 no chunk, 6 unknown format
-- Law   does nothing unless number and birth are those seen, so a repeated call changes nothing.
--       The next chunk has what is left of the guard (see chunk).
-- Cost  O(chunk)
-- @include journal/answer
local keys_per_step = 2
local arguments_per_step = 3

local function step(k, a, now)
  local open, closed = KEYS[k], KEYS[k + 1]
  local seen_number, seen_birth, next_birth = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local before = redis.call("GETRANGE", open, 0, CHUNK_BYTES - 1)
  if before == "" then return answer(1, now, "", 0, "", 0, 0, "") end
  local format, value_type, clock_and_guard, chunk_ms, number, created, birth, last, retention, complete, latest =
    struct.unpack(CHUNK, before)
  if format ~= FORMAT then return answer(6, now, before, redis.call("STRLEN", open), "", 0, 0, "") end
  if number ~= seen_number or birth ~= seen_birth then
    return answer(0, now, before, redis.call("STRLEN", open), "", 0, 0, "")
  end

  local stamp = math.max(now, last)
  -- The expiry counts from the closing, so readers of the next chunk find it while a window may need it.
  local expiry = whole(expiry_of(stamp, retention, chunk_ms))
  -- A failover may undo the request. Its repetition then closes another chunk, and the next one must have another birth, also
  -- if the chunk lost as many bytes as milliseconds went by.
  local new_birth = (next_birth + stamp % 4294967296 + 65537 * redis.call("STRLEN", open)) % 4294967296
  if new_birth == 0 then new_birth = 1 end
  local guard = clock_and_guard_of(clock_of(clock_and_guard), stamp, guarded_until(created, clock_and_guard))
  local header = struct.pack(CHUNK, FORMAT, value_type, guard, chunk_ms_of(retention), number + 1, stamp,
    new_birth, birth, stamp, retention, complete, latest)
  redis.call("COPY", open, closed, "REPLACE")
  redis.call("PEXPIREAT", closed, expiry)
  redis.call("SET", open, header, "PXAT", expiry)
  return answer(0, now, header, CHUNK_BYTES, "", 0, 0, "")
end
