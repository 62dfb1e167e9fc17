-- @include limiter/state
-- The reply to a request with an id: the generation at that time · u32 bytes of the question · the question · the reply.
-- The key before it, shared by all requests of one id, has the generation: 24 bytes, f64 now and the token of the first
-- request. A reset deletes it, so that all requests are decided again.
local PRESENT_BYTES = 24

-- The question: the input without its token and its flag of reservations.
local function question_of(a, count)
  local parts = { string.sub(inputs, a, a + 15) }
  for i = 1, count do
    local at = a + 32 + (i - 1) * 40
    local kind, flags = struct.unpack("BB", inputs, at)
    parts[i + 1] = struct.pack("BB", kind, flags % 8) .. string.sub(inputs, at + 2, at + 39)
  end
  return table.concat(parts)
end

local function text_at(key)
  local text = redis.pcall("GET", key)
  if type(text) == "table" then damaged(key, text.err) end
  return text
end

local function present_of(key)
  local present = text_at(key)
  if present and #present ~= PRESENT_BYTES then damaged(key, "it is not a generation of requests") end
  return present
end

local function is_blocked(key, now)
  local head = redis.pcall("GETRANGE", key, "0", "23")
  if type(head) == "table" or #head < 24 then return false end
  local blocked = struct.unpack("<d", head, 9)
  return blocked > now
end

local function heal_request(key, now)
  if redis.call("PTTL", key) == -1 then redis.call("PEXPIREAT", key, whole(now + REQUEST_LIFE_MS)) end
end

-- Returns the reply to the same request; nil if it must be decided.
local function answered(k, question, now)
  local key, present_key = KEYS[k + keys_per_step - 1], KEYS[k + keys_per_step - 2]
  local known, present = text_at(key), present_of(present_key)
  if present then heal_request(present_key, now) end
  if not known then return end
  heal_request(key, now)
  if #known < PRESENT_BYTES + 4 then damaged(key, #known .. " bytes are not the reply to a request") end
  if string.sub(known, 1, PRESENT_BYTES) ~= present then return end
  local bytes = struct.unpack("<I4", known, PRESENT_BYTES + 1)
  local ends = PRESENT_BYTES + 4 + bytes
  if string.sub(known, PRESENT_BYTES + 5, ends) ~= question then
    return refuse("MISMATCH", "the request was granted before with another cost or other policies")
  end
  if is_blocked(KEYS[k], now) then return end
  -- All calls of one script call share a reply text, so a reply of another size would damage the others.
  if #known ~= ends + 24 + (#question - 16) then damaged(key, "its reply has another size") end
  return string.sub(known, ends + 1)
end

local function remember(k, question, answer, token, now)
  local key, present_key = KEYS[k + keys_per_step - 1], KEYS[k + keys_per_step - 2]
  local present, ends = present_of(present_key), whole(now + REQUEST_LIFE_MS)
  if not present then
    present = struct.pack("<d", now) .. token
    redis.call("SET", present_key, present, "PXAT", ends)
  else
    redis.call("PEXPIREAT", present_key, ends, "GT")
  end
  redis.call("SET", key, present .. struct.pack("<I4", #question) .. question .. answer, "PXAT", ends)
end
