#!lua
-- Writes a summary beside its journal.
-- One atomic step: the summary of a journal that was deleted, or undone by a failover, must not be written.
-- KEYS  1 the open chunk · 2 the summary (one slot)
-- ARGV  1 the summary (layout in src/journal/format/summary.ts)
-- Reply u8: 0 written; 1 nothing was written, because the journal no longer continues it
-- Law   It is written if the open chunk is the one that it ends in, or the next one, and expires with that chunk. The last
--       written summary counts. Readers check it.
-- Cost  O(bytes of the summary)
-- @include layouts/journal
-- @include journal/chunk
local keys_per_step = 2
local arguments_per_step = 1

local function step(k, a, now)
  local open, summary = KEYS[k], ARGV[a]
  local header = redis.call("GETRANGE", open, 0, CHUNK_BYTES - 1)
  if #header < CHUNK_BYTES or string.byte(header) ~= FORMAT then return "\1" end
  local chunk_ms, number, birth, birth_before, last, retention = struct.unpack(CHUNK, header)
  local its_number, its_birth = struct.unpack(CHUNK, summary)
  local length, place = struct.unpack(SUMMARY, summary, CHUNK_BYTES + 1)
  if number == its_number + 1 then
    if birth_before ~= its_birth then return "\1" end
  elseif number ~= its_number or birth ~= its_birth or redis.call("STRLEN", open) < length then
    return "\1"
  elseif place > 0 and redis.call("GETRANGE", open, place, place + FRAME_BYTES - 1)
    ~= string.sub(summary, CHUNK_BYTES + SUMMARY_FRAME_AT + 1, CHUNK_BYTES + SUMMARY_FROM_MS_AT) then
    return "\1"
  end
  redis.call("SET", KEYS[k + 1], summary, "PXAT", whole(expiry_of(last, retention, chunk_ms)))
  return "\0"
end
