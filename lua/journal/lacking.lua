-- @include layouts/journal
-- @include journal/chunk
-- What a caller lacks of a chunk: its length, continued, from, and its bytes from `from` on, at most a page.
-- `known` is "" when no bytes are wanted, else what the caller holds of this chunk:
--   0 f64 number · 8 u32 birth · 12 u32 length · 16 u32 place of the last frame header (0: none) · 20 that header
-- Bytes go on from the known length if number, birth and that frame header still stand; else they begin at 0, or, where
-- the birth is 0, which says that nothing is known yet, at the known length all the same: any page can be asked for.
-- A command costs more than what it reads: one GETRANGE tells header, bytes and, where it meets the end, the length.
local function lacking(key, header, known)
  if known == "" then return redis.call("STRLEN", key), 0, 0, "" end
  if string.sub(known, 1, KNOWN_BIRTH_AT) == string.sub(header, CHUNK_NUMBER_AT + 1, CHUNK_CREATED_MS_AT)
    and string.sub(known, KNOWN_BIRTH_AT + 1, KNOWN_LENGTH_AT)
      == string.sub(header, CHUNK_BIRTH_AT + 1, CHUNK_BIRTH_BEFORE_AT) then
    local its_length, place = struct.unpack(KNOWN, known)
    local first = place == 0 and its_length or place
    local bytes = redis.call("GETRANGE", key, first, its_length + PAGE_BYTES - 1)
    local length = first + #bytes
    if bytes == "" or length >= its_length + PAGE_BYTES then length = redis.call("STRLEN", key) end
    if its_length <= length and (place == 0 or string.sub(bytes, 1, FRAME_BYTES) == string.sub(known, KNOWN_BYTES + 1)) then
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
