#!lua
-- Appends frames to the open chunk of a series and answers what the caller lacks.
-- A script: stamp, checks, bytes, header and expiry are one step; `recordAndGet` is one round trip.
-- KEYS  the open chunk
-- ARGV  1 value type (0 f32, 1 f64) · 2 clock (0 server, 1 event) · 3 retention, ms · 4 void after, server ms
--       5 birth for a chunk made now, u32 · 6 per frame: u32 size in bytes, f64 earliest, f64 latest own time, ms
--       7 the frames, stamps zero · 8 known (see answer), "" when no bytes are wanted
-- Reply answer; status 0 done, 2 clash, 3 full, 4 chunk too old (rotate first), 5 void, 6 unknown format;
--       verdicts: one per frame, 0 written, 1 late, 2 early
-- Law   a status above 0 has changed nothing. Repeating a call repeats its frames; readers count them once.
-- Cost  O(bytes appended + bytes answered)
-- @include window/answer
local keys_per_step = 1
local arguments_per_step = 8

local function judge(own_times, earliest, latest, oldest, now)
  if not own_times then return "\0" end
  if latest > now + early_ms then return "\2" end
  if earliest < oldest then return "\1" end
  return "\0"
end

-- A refused call changes no byte, but a chunk without expiry gets it back.
local function heal(key, is_format, last, retention, chunk_ms)
  if is_format == format and redis.call("PTTL", key) == -1 then
    redis.call("PEXPIREAT", key, whole(expiry_of(last, retention, chunk_ms)))
  end
end

local function step(k, a, now)
  local key, known = KEYS[k], ARGV[a + 7]
  local value_type, clock = tonumber(ARGV[a]), tonumber(ARGV[a + 1])
  local asked, void_after = tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3])
  local metas, frames = ARGV[a + 5], ARGV[a + 6]
  local before = redis.call("GETRANGE", key, 0, header_bytes - 1)
  local fresh = before == ""
  local length = fresh and 0 or redis.call("STRLEN", key)
  local is_format, is_type, flags, chunk_ms, number, created, birth, birth_before, last, retention, complete, latest =
    format, value_type, clock, chunk_ms_of(asked), now, now, tonumber(ARGV[a + 4]), 0, now, asked, -math.huge, -math.huge
  if not fresh then
    is_format, is_type, flags, chunk_ms, number, created, birth, birth_before, last, retention, complete, latest =
      struct.unpack(header_layout, before)
  end

  local status = 0
  if is_format ~= format then status = 6
  elseif is_type ~= value_type or flags ~= clock then status = 2
  elseif now > void_after then status = 5
  elseif length + #frames > full_bytes then status = 3
  elseif now - created > oldest_chunk_ms then status = 4 end
  if status > 0 then
    heal(key, is_format, last, retention, chunk_ms)
    return answer(key, status, now, before, length, "", known)
  end

  local stamp = math.max(now, last)
  if asked > retention then
    complete = math.max(complete, stamp - retention)
    retention = asked
  end
  local place, written, verdicts = 1, {}, {}
  for i = 1, #metas / 20 do
    local size, earliest, newest = struct.unpack("<I4dd", metas, i * 20 - 19)
    local own_times = bit.band(string.byte(frames, place), 2) ~= 0
    verdicts[i] = judge(own_times, earliest, newest, (clock == 1 and latest or stamp) - retention, now)
    if verdicts[i] == "\0" then
      written[#written + 1] = string.sub(frames, place, place + 11)
        .. struct.pack("<I4", stamp - created)
        .. string.sub(frames, place + 16, place + size - 1)
      if clock == 1 then latest = math.max(latest, own_times and newest or stamp) end
    end
    place = place + size
  end
  verdicts = table.concat(verdicts)
  if #written == 0 then
    heal(key, is_format, last, retention, chunk_ms)
    return answer(key, 0, now, before, length, verdicts, known)
  end

  local header = struct.pack(header_layout,
    format, value_type, flags, chunk_ms, number, created, birth, birth_before, stamp, retention, complete, latest)
  local expiry = whole(expiry_of(stamp, retention, chunk_ms))
  local bytes = table.concat(written)
  if fresh then
    redis.call("SET", key, header .. bytes, "PXAT", expiry)
    length = header_bytes + #bytes
  else
    length = redis.call("APPEND", key, bytes)
    redis.call("SETRANGE", key, 32, string.sub(header, 33))
    redis.call("PEXPIREAT", key, expiry)
  end
  return answer(key, 0, now, header, length, verdicts, known)
end
