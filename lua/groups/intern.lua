#!lua
-- Gives new groups of a series their numbers, and returns the part of the dictionary that the caller is missing.
-- One atomic step: groups are appended right behind the part that their process knows to the last byte. So the nonce at the end
-- of a known part proves all bytes before it.
-- KEYS  1 the open chunk of the journal · 2 the dictionary
-- ARGV  1 the header of a dictionary begun now: GROUPS, first chunk 0, label names, birth u32 · 2 GROUPS_KNOWN
--       3 the new groups; "" to read only · 4 ms from now until the dictionary expires, if this call writes
-- Reply INTERNED, and the dictionary from `from` on, at most a page. `from` is the known length if that part is still there,
--       else 0. Length 0: there is no dictionary
-- Law   Groups are appended only if the known part is all of the dictionary. Without a dictionary, a call with groups begins one
--       that is empty. So a repeated or late copy appends nothing, and brings no lost group back: its birth has the time in it.
--       Chunks up to the open one belong to an earlier dictionary. The expiry never becomes shorter.
-- Cost  O(bytes appended + answered)
-- @include layouts/journal
-- @include layouts/groups
local keys_per_step = 2
local arguments_per_step = 4

-- An empty chunk without one before it is what a delete leaves. Its number does not count yet.
local function first_chunk_after(open)
  local header = redis.call("GETRANGE", open, "0", CHUNK_LAST_BYTE_TEXT)
  if header == "" then return 0 end
  local number, birth_before = struct.unpack(CHUNK, header)
  if birth_before == 0 and redis.call("STRLEN", open) == CHUNK_BYTES then return 0 end
  return number + 1
end

local function begun(header, open, now)
  local birth = struct.unpack("<I4", header, #header - 3)
  return string.sub(header, 1, GROUPS_FIRST_CHUNK_AT) .. struct.pack("<d", first_chunk_after(open))
    .. string.sub(header, GROUPS_BYTES + 1, -5) .. struct.pack("<I4", (birth + now) % 4294967296)
end

local function step(k, a, now)
  local key, known, groups = KEYS[k + 1], ARGV[a + 1], ARGV[a + 2]
  local known_length = struct.unpack("<I4", known)
  local expiry = string.format("%.0f", math.ceil((now + tonumber(ARGV[a + 3])) / 1000) * 1000)
  local length, from = redis.call("STRLEN", key), 0
  if length == 0 then
    local dictionary = groups == "" and "" or begun(ARGV[a], KEYS[k], now)
    if dictionary ~= "" then redis.call("SET", key, dictionary, "PXAT", expiry) end
    return struct.pack(INTERNED, #dictionary, 0) .. dictionary
  end
  if known_length > 0
    and redis.call("GETRANGE", key, known_length - 4, known_length - 1) == string.sub(known, GROUPS_KNOWN_NONCE_AT + 1) then
    from = known_length
    if length == from and groups ~= "" then
      length = redis.call("APPEND", key, groups)
      redis.call("PEXPIREAT", key, expiry, "GT")
    end
  end
  return struct.pack(INTERNED, length, from) .. redis.call("GETRANGE", key, from, from + GROUPS_PAGE_BYTES - 1)
end
