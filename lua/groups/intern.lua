#!lua
-- Gives new groups of a series their numbers, and returns the part of the dictionary that the caller is missing.
-- One atomic step: groups are appended right behind the part that their process knows to the last byte. So the nonce at the end
-- of a known part proves all bytes before it.
-- KEYS  1 the open chunk of the journal · 2 the dictionary
-- ARGV  1 a dictionary without groups, begun now: GROUPS, times and chunks 0, label names, former groups, birth u32 · 2 GROUPS_KNOWN
--       3 the new groups; "" to read only, or to begin anew if 1 is given · 4 ms from now until the dictionary expires, if this call writes
--       5 ms after that when the names may begin anew
-- Reply INTERNED, and the dictionary from `from` on, at most a page. `from` is the known length if that part is still there,
--       else 0. Length 0: there is no dictionary
-- Law   Groups are appended only if the known part is all of the dictionary. Without a dictionary, a call with groups begins one
--       that is empty. So a repeated or late copy appends nothing, and brings no lost group back: its birth has the time in it.
--       Chunks up to the open one belong to an earlier dictionary. The expiry never becomes shorter.
--       The names begin anew only if the known part is all, when no event of former groups is left. Its groups are the former ones then,
--       and their events end with the open chunk. Numbers may come again that were in chunks before the former groups.
-- Cost  O(bytes appended + answered)
-- @include layouts/journal
-- @include layouts/groups
local keys_per_step = 2
local arguments_per_step = 5

-- An empty chunk without one before it is what a delete leaves. Its number does not count yet.
local function first_chunk_after(open)
  local header = redis.call("GETRANGE", open, "0", CHUNK_LAST_BYTE_TEXT)
  if header == "" then return 0 end
  local number, birth_before = struct.unpack(CHUNK, header)
  if birth_before == 0 and redis.call("STRLEN", open) == CHUNK_BYTES then return 0 end
  return number + 1
end

local function begun(bytes, first_chunk, former_first_chunk, end_ms, now)
  local birth = struct.unpack("<I4", bytes, #bytes - 3)
  return string.sub(bytes, 1, GROUPS_FIRST_CHUNK_AT) .. struct.pack(GROUPS_TIMES, first_chunk, former_first_chunk, end_ms)
    .. string.sub(bytes, GROUPS_BYTES + 1, -5) .. struct.pack("<I4", (birth + now) % 4294967296)
end

local function step(k, a, now)
  local key, known, groups = KEYS[k + 1], ARGV[a + 1], ARGV[a + 2]
  local known_length = struct.unpack("<I4", known)
  local expire_at = math.ceil((now + tonumber(ARGV[a + 3])) / 1000) * 1000
  local expiry = string.format("%.0f", expire_at)
  local before = redis.call("GETRANGE", key, "0", GROUPS_LAST_BYTE_TEXT)
  if before == "" then
    if groups == "" then return struct.pack(INTERNED, 0, 0, 0) end
    local first_chunk, wait = first_chunk_after(KEYS[k]), expire_at + tonumber(ARGV[a + 4]) - now
    local dictionary = begun(ARGV[a], first_chunk, first_chunk, now + wait, now)
    redis.call("SET", key, dictionary, "PXAT", expiry)
    return struct.pack(INTERNED, #dictionary, 0, wait) .. dictionary
  end
  local length, from = redis.call("STRLEN", key), 0
  local end_ms = #before == GROUPS_BYTES and struct.unpack("<d", before, GROUPS_END_MS_AT + 1) or now
  if known_length > 0
    and redis.call("GETRANGE", key, known_length - 4, known_length - 1) == string.sub(known, GROUPS_KNOWN_NONCE_AT + 1) then
    from = known_length
    if length == from and groups ~= "" then
      length = redis.call("APPEND", key, groups)
      redis.call("PEXPIREAT", key, expiry, "GT")
    elseif length == from and ARGV[a] ~= "" and now >= end_ms then
      expire_at = math.max(expire_at, redis.call("PEXPIRETIME", key))
      end_ms = expire_at + tonumber(ARGV[a + 4])
      local former_first_chunk = struct.unpack("<d", before, GROUPS_FIRST_CHUNK_AT + 1)
      local first_chunk = math.max(former_first_chunk, first_chunk_after(KEYS[k]))
      local dictionary = begun(ARGV[a], first_chunk, former_first_chunk, end_ms, now)
      redis.call("SET", key, dictionary, "PXAT", string.format("%.0f", expire_at))
      length, from = #dictionary, 0
    end
  end
  return struct.pack(INTERNED, length, from, math.max(0, end_ms - now))
    .. redis.call("GETRANGE", key, from, from + GROUPS_PAGE_BYTES - 1)
end
