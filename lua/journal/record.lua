#!lua
-- Fast path: appends one undated event to an existing chunk in its normal state. The chunk has an event, this value type and
-- the server's clock, no guard, room, a low age and a sufficient retention. In all other states append does it, with the same frame.
-- One atomic step for stamp, checks, bytes, header and expiry. It is separate from append to be cheap for many keys.
-- KEYS  the open chunk
-- ARGV  a frame without own times (16 bytes, stamp zero; f32 or f64, 8 bytes) · f64 retention, ms · f64 void after,
--       server ms
-- Reply u8 status: 0 done, 1 nothing was changed · 3 zero · u32 length · f64 now · f64 stamp · bytes 4 to 27 of the
--       chunk's header; all zero except the status if nothing was changed
-- Law   A repeated call repeats its frame. Readers count it once, because its stamp is one that append allows. The step does
--       not check the length of the chunk: a writer that knows that it must be closed uses append.
-- Cost  O(1): three commands and TIME
-- @include layouts/journal
-- @include journal/chunk
-- @include store/undone
-- packed

local function not_done()
  return "\1" .. string.rep("\0", RECORDED_BYTES - 1)
end

local function step(k, a, now)
  local key = KEYS[k]
  local before = redis.call("GETRANGE", key, "0", "64")
  if #before <= CHUNK_BYTES then return not_done() end
  local format, value_type, clock_and_guard, chunk_ms, created, last, retention = struct.unpack(CHUNK, before)
  local flags = string.byte(inputs, a)
  local asked, void_after = struct.unpack(RECORD_LIMITS, inputs, a + RECORD_RETENTION_MS_AT)
  local stamp, value_end = now > last and now or last, value_type == 1 and a + (RECORD_VALUE_AT + 7) or a + (RECORD_VALUE_AT + 3)
  if format ~= FORMAT or clock_and_guard ~= 0 or flags ~= FORMAT * 16 + value_type or asked > retention
    or not (stamp <= void_after and stamp > void_after - DEDUPE_MS) or now - created > OLDEST_CHUNK_MS then
    return not_done()
  end
  local length = redis.pcall("APPEND", key, string.sub(inputs, a, a + (FRAME_SINCE_CREATION_MS_AT - 1)) .. struct.pack("<I4", stamp - created)
    .. string.sub(inputs, a + RECORD_VALUE_AT, value_end))
  if type(length) ~= "number" then undone(length) end
  if stamp ~= last then
    redis.call("SETRANGE", key, CHUNK_LAST_STAMP_MS_AT_TEXT, struct.pack("<d", stamp))
    local expiry = expiry_of(stamp, retention, chunk_ms)
    if expiry ~= expiry_of(last, retention, chunk_ms) then redis.call("PEXPIREAT", key, whole(expiry)) end
  end
  return struct.pack(RECORDED_START, 0, length, now, stamp) .. string.sub(before, CHUNK_CHUNK_MS_AT + 1, CHUNK_BIRTH_BEFORE_AT)
end
