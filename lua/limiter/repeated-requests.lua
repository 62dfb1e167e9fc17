-- @include limiter/state
-- @include limiter/sliding-log
-- The reply to a request with an id: STORED_REPLY, with the generation at that time, then the question, then the reply.
-- The key before it, shared by all requests of one id, has the GENERATION: when the first request came, and its token. A
-- reset deletes it, so that all requests are decided again.

-- The question: the input without its token, its flag of reservations, and the edges of calendar windows.
local function question_of(a, count)
  local parts = { string.sub(inputs, a, a + (REQUEST_TOKEN_AT - 1)) }
  for i = 1, count do
    local at = a + REQUEST_BYTES + (i - 1) * RULE_BYTES
    local kind, rule_flags = struct.unpack(RULE_START, inputs, at)
    parts[i + 1] = struct.pack(RULE_START, kind, rule_flags % RULE_FLAG_RESERVATIONS)
      .. string.sub(inputs, at + RULE_START_BYTES, at + (RULE_SPAN_MS_AT - 1))
      .. (kind == KIND_CALENDAR and string.rep("\0", 16) or string.sub(inputs, at + RULE_SPAN_MS_AT, at + (RULE_BYTES - 1)))
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
  if present and #present ~= GENERATION_BYTES then damaged(key, "it is not a generation of requests") end
  return present
end

local function is_blocked(key, now)
  local head = redis.pcall("GETRANGE", key, "0", LOG_MOST_BYTES_TEXT)
  if type(head) == "table" or #head < STATE_HEAD_BYTES then return false end
  if string.byte(head) ~= LOG_FORMAT then
    local blocked = struct.unpack(STATE_HEAD, head)
    return blocked > now
  end
  local blocked = log_ends(head)
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
  if #known < STORED_REPLY_BYTES then damaged(key, #known .. " bytes are not the reply to a request") end
  if string.sub(known, 1, GENERATION_BYTES) ~= present then return end
  local length = struct.unpack(SIZED, known, STORED_REPLY_QUESTION_LENGTH_AT + 1)
  local ends = STORED_REPLY_BYTES + length
  if string.sub(known, STORED_REPLY_BYTES + 1, ends) ~= question then
    return refuse("MISMATCH", "the request was granted before with another cost or other policies")
  end
  if is_blocked(KEYS[k], now) then return end
  -- All calls of one script call share a reply text, so a reply of another size would damage the others.
  local policies = (#question - REQUEST_TOKEN_AT) / RULE_BYTES
  if #known ~= ends + REPLY_BYTES + policies * POLICY_REPLY_BYTES then damaged(key, "its reply has another size") end
  return string.sub(known, ends + 1)
end

local function remember(k, question, answer, token, now)
  local key, present_key = KEYS[k + keys_per_step - 1], KEYS[k + keys_per_step - 2]
  local present, ends = present_of(present_key), whole(now + REQUEST_LIFE_MS)
  if not present then
    present = struct.pack(TIME, now) .. token
    redis.call("SET", present_key, present, "PXAT", ends)
  else
    redis.call("PEXPIREAT", present_key, ends, "GT")
  end
  redis.call("SET", key, present .. struct.pack(SIZED, #question) .. question .. answer, "PXAT", ends)
end
