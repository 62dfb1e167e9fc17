#!lua
-- Publishes the answer to a question for all processes of a series, or gives up the claim to compute it.
-- A script: a late answer must not replace a newer one.
-- KEYS  the question
-- ARGV  1 id of the process · 2 as of, server ms · 3 maximum age, ms · 4 the answer; empty: gives up
-- Reply u8 0
-- Law   The answer with the latest `as of` stays. Those from the future, because the server's clock was set back, do not.
-- Cost  O(answer)
-- @include series/shared
local keys_per_step = 1
local arguments_per_step = 4

local function step(k, a, now)
  local id, as_of, max_age, answer = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2]), ARGV[a + 3]
  local s = shared_at(KEYS[k])
  local is_newer = answer ~= "" and (as_of > s.as_of or s.as_of > now)
  if not is_newer and s.claimant ~= id then return "\0" end
  if s.claimant == id then s.claimant, s.claim_end = 0, 0 end
  if is_newer then s.publisher, s.as_of, s.wanted, s.answer = id, as_of, 0, answer end
  store_shared(KEYS[k], s, now, max_age)
  return "\0"
end
