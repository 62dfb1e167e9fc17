#!lua
-- Asks for the answer to a question that the processes of a series share, or takes the claim to compute it.
-- One atomic step: of all processes that find the answer too old, one computes it.
-- KEYS  the question
-- ARGV  1 maximum age, ms · 2 id of the asking process · 3 1 to renew, else 0
-- Reply ASK_REPLY · the answer, if it is fresh
-- Law   An answer is fresh if it is less than the maximum age old. A claim ends with the answer, when it is given up, after half
--       the maximum age, or after CLAIM_MS. Only the process of the last answer renews it, and only if others have asked since.
--       An answer or a claim from the future, because the server's clock was set back, counts as none.
-- Cost  O(answer)
-- @include series/shared
local keys_per_step = 1
local arguments_per_step = 3

local function step(k, a, now)
  local max_age, id, is_renewal = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), ARGV[a + 2] == "1"
  local s = shared_at(KEYS[k])
  local is_claimed = s.claimant ~= id and s.claim_end > now and s.claim_end <= now + CLAIM_MS
  if is_renewal then
    if s.publisher ~= id or is_claimed or s.wanted == 0 then return struct.pack(ASK_REPLY, ASKED_STOP, now, s.as_of, 0) end
    max_age = s.wanted
  elseif s.answer ~= "" and s.as_of <= now and now - s.as_of < max_age then
    if s.publisher ~= id and (s.wanted == 0 or max_age < s.wanted) then
      s.wanted = max_age
      store_shared(KEYS[k], s, now, max_age)
    end
    return struct.pack(ASK_REPLY, ASKED_FRESH, now, s.as_of, 0) .. s.answer
  elseif is_claimed then
    return struct.pack(ASK_REPLY, ASKED_WAIT, now, s.as_of, 0)
  end
  s.claimant, s.claim_end = id, now + math.min(max_age / 2, CLAIM_MS)
  store_shared(KEYS[k], s, now, max_age)
  return struct.pack(ASK_REPLY, ASKED_CLAIMED, now, s.as_of, max_age)
end
