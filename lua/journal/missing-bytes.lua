-- @include layouts/journal
-- @include journal/chunk
-- Returns the part of a chunk that a caller is missing: its length, continued, from, and its bytes from `from` on, at most a
-- page. `known` is "" for an answer without bytes, else the part of the chunk that the caller has:
--   0 f64 number · 8 u32 birth · 12 u32 length · 16 u32 place of the last frame header (0: none) · 20 that header
-- The bytes begin at the known length if number, birth and that frame header are unchanged, else at 0. With birth 0 the caller
-- has nothing, and the bytes begin at the known length, so that any page can be requested.
-- A command costs more than 2 kB. So one GETRANGE returns the frame header, unless its frame is long, the bytes and, if it
-- reaches the end, the length.
local function missing_bytes(key, header, known)
  if known == "" then return redis.call("STRLEN", key), 0, 0, "" end
  if string.sub(known, 1, KNOWN_BIRTH_AT) == string.sub(header, CHUNK_NUMBER_AT + 1, CHUNK_CREATED_MS_AT)
    and string.sub(known, KNOWN_BIRTH_AT + 1, KNOWN_LENGTH_AT)
      == string.sub(header, CHUNK_BIRTH_AT + 1, CHUNK_BIRTH_BEFORE_AT) then
    local its_length, place = struct.unpack(KNOWN, known)
    local first, frame = place, nil
    if place == 0 then first = its_length
    elseif its_length - place >= LONG_FRAME_BYTES then
      first, frame = its_length, redis.call("GETRANGE", key, place, place + FRAME_BYTES - 1)
    end
    local bytes = redis.call("GETRANGE", key, first, its_length + PAGE_BYTES - 1)
    local length = first + #bytes
    if bytes == "" or length >= its_length + PAGE_BYTES then length = redis.call("STRLEN", key) end
    if its_length <= length
      and (place == 0 or (frame or string.sub(bytes, 1, FRAME_BYTES)) == string.sub(known, KNOWN_BYTES + 1)) then
      return length, 1, its_length, string.sub(bytes, its_length - first + 1)
    end
  end
  local from = 0
  local birth, its_length = struct.unpack(KNOWN, known)
  if birth == 0 then from = its_length end
  local bytes = redis.call("GETRANGE", key, from, from + PAGE_BYTES - 1)
  local meets_end = #bytes < PAGE_BYTES and (from == 0 or bytes ~= "")
  return meets_end and from + #bytes or redis.call("STRLEN", key), 0, from, bytes
end
