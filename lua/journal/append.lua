#!lua
-- Appends frames to the open chunk of a series and returns the bytes that the caller is missing.
-- One atomic step for stamp, checks, bytes, header and expiry, so `recordAndGet` is one round trip.
-- KEYS  the open chunk
-- ARGV  1 u8 value type (0 f32, 1 f64) · u8 clock (0 server, 1 event) · u16 zero · u32 birth for a chunk made now ·
--         f64 retention, ms · f64 void after, server ms
--       2 per frame: u32 size in bytes, f64 earliest, f64 latest own time, ms; "" for one frame without own times
--       3 the frames, stamps zero · 4 known (see missing-bytes), "" for an answer without bytes
-- Reply answer; status 0 done, 2 mismatch, 3 full, 4 chunk too old (rotate first), 5 void, 6 unknown format;
--       verdicts: one per frame, 0 written, 1 late, 2 early
-- Law   A call with a status above 0 has changed nothing. A repeated call repeats its frames, which readers count once.
--       Events written before a delete are not written after it, however late their copies (see chunk).
--       Frames are stored with a stamp from void after - 20 s, exclusive, to void after, inclusive, or not at all. So all
--       copies lie within the time in which readers recognise copies, whatever the clocks of server and caller do.
-- Cost  O(bytes appended + bytes answered); a single frame without an answer: three commands and TIME
-- @include journal/answer
-- @include journal/missing-bytes
-- @include store/undone
local keys_per_step = 1
local arguments_per_step = 4

-- A refused call changes no byte, but restores a missing expiry.
local function heal(key, expiry)
  if redis.call("PTTL", key) == -1 then redis.call("PEXPIREAT", key, whole(expiry)) end
end

local function step(k, a, now)
  local key, metas, frames, known = KEYS[k], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3]
  local asked_type, asked_clock, drawn_birth, asked, void_after = struct.unpack(APPEND, ARGV[a])
  local before = redis.call("GETRANGE", key, "0", CHUNK_LAST_BYTE_TEXT)
  local length, continued, from, bytes = 0, 0, 0, ""
  local format, value_type, clock_and_guard, chunk_ms, number, created, birth, birth_before, last, retention, complete, latest
  local clock, guard_end = asked_clock, -math.huge
  if before ~= "" then
    length, continued, from, bytes = missing_bytes(key, before, known)
    format, value_type, clock_and_guard, chunk_ms, number, created, birth, birth_before, last, retention, complete, latest =
      struct.unpack(CHUNK, before)
    clock, guard_end = clock_of(clock_and_guard), guarded_until(created, clock_and_guard)
  end
  local fresh = before == "" or (length == CHUNK_BYTES and birth_before == 0 and format == FORMAT)
  if fresh then
    local first = math.max(now, last or now)
    continued, from, bytes = 0, 0, ""
    format, value_type, clock, chunk_ms, number, created, birth, birth_before, last, retention, complete, latest =
      FORMAT, asked_type, asked_clock, chunk_ms_of(asked), math.max(now, number or now), first, drawn_birth, 0, first, asked,
      -math.huge, -math.huge
  end

  local status, stamp = 0, now > last and now or last
  if format ~= FORMAT then status = 6
  elseif value_type ~= asked_type or clock ~= asked_clock then status = 2
  elseif not (stamp <= void_after and stamp > void_after - DEDUPE_MS and void_after >= guard_end) then status = 5
  elseif length + #frames > FULL_BYTES then status = 3
  elseif now - created > OLDEST_CHUNK_MS then status = 4 end
  if status > 0 then
    if format == FORMAT and not fresh then heal(key, expiry_of(last, retention, chunk_ms)) end
    return answer(status, now, before, length, "", continued, from, bytes)
  end

  local kept, seen, was_empty = retention, latest, length == CHUNK_BYTES
  if asked > retention then
    complete = math.max(complete, stamp - retention)
    retention = asked
  end
  local since_creation = struct.pack("<I4", stamp - created)
  local written, verdicts
  if metas == "" then
    written, verdicts = string.sub(frames, 1, FRAME_SINCE_CREATION_MS_AT) .. since_creation .. string.sub(frames, FRAME_BYTES + 1), "\0"
    if clock == 1 then latest = math.max(latest, stamp) end
  else
    local place, stamped, judged = 1, {}, {}
    for i = 1, #metas / FRAME_META_BYTES do
      local size, earliest, newest = struct.unpack(FRAME_META, metas, (i - 1) * FRAME_META_BYTES + 1)
      local own_times = bit.band(string.byte(frames, place), 2) ~= 0
      if own_times and newest > now + EARLY_MS then judged[i] = "\2"
      elseif own_times and earliest < (clock == 1 and latest or stamp) - retention then judged[i] = "\1"
      else
        judged[i] = "\0"
        stamped[#stamped + 1] = string.sub(frames, place, place + FRAME_SINCE_CREATION_MS_AT - 1)
          .. since_creation
          .. string.sub(frames, place + FRAME_BYTES, place + size - 1)
        if clock == 1 then latest = math.max(latest, own_times and newest or stamp) end
      end
      place = place + size
    end
    written, verdicts = table.concat(stamped), table.concat(judged)
    if written == "" then
      if not fresh then heal(key, expiry_of(last, kept, chunk_ms)) end
      return answer(0, now, before, length, verdicts, continued, from, bytes)
    end
  end

  local expiry = expiry_of(stamp, retention, chunk_ms)
  local header = before
  if fresh then
    clock_and_guard = clock_and_guard_of(clock, created, guard_end)
    header = struct.pack(CHUNK, FORMAT, value_type, clock_and_guard, chunk_ms, number, created, birth, birth_before,
      stamp, retention, complete, latest)
    local set = redis.pcall("SET", key, header .. written, "PXAT", whole(expiry))
    if set.err then undone(set) end
    length, bytes = CHUNK_BYTES + #written, header
  else
    length = redis.pcall("APPEND", key, written)
    if type(length) ~= "number" then undone(length) end
    -- Most calls of the same millisecond, or second, find that header and expiry do not change.
    if stamp ~= last or retention ~= kept or latest ~= seen then
      local tail = struct.pack(CHUNK_TIMES, stamp, retention, complete, latest)
      header = string.sub(before, 1, CHUNK_LAST_STAMP_MS_AT) .. tail
      redis.call("SETRANGE", key, CHUNK_LAST_STAMP_MS_AT_TEXT, tail)
    end
    if clock_and_guard > 1 and stamp >= guard_end then
      redis.call("SETRANGE", key, CHUNK_CLOCK_AND_GUARD_AT_TEXT, string.char(clock, 0))
      header = string.sub(header, 1, CHUNK_CLOCK_AND_GUARD_AT) .. string.char(clock, 0) .. string.sub(header, CHUNK_CHUNK_MS_AT + 1)
    end
    if was_empty or expiry ~= expiry_of(last, kept, chunk_ms) then redis.call("PEXPIREAT", key, whole(expiry)) end
    if from == 0 then bytes = header .. string.sub(bytes, CHUNK_BYTES + 1) end
  end
  bytes = known == "" and "" or string.sub(bytes .. written, 1, PAGE_BYTES)
  return answer(0, now, header, length, verdicts, continued, from, bytes)
end
