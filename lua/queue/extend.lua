#!lua flags=allow-oom
-- Extends the claims of messages.
-- A script: between a read and a write another worker could claim the message.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout · 2 MessagePack, an array of member and deliveries in alternation, up to 1000 of each · 3 duration of the claim, ms
-- Reply EXTENDED, u8 for each message. Extended: claimed until now + duration. Stale: not claimed by this delivery
-- Errors MISMATCH, CORRUPT; nothing was written
-- Law   A claim is never shortened.
-- Cost  O(members * log(stored messages))
-- @include queue/layout
local keys_per_step = 2
local arguments_per_step = 3
local function step(k, a, now)
  local times, asked, visibility = KEYS[k], cmsgpack.unpack(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local refused = mismatch(KEYS[k + 1], redis.call("HGET", KEYS[k + 1], "@layout"), ARGV[a])
  if refused then return refused end
  local members, statuses, moved = {}, {}, {}
  for i = 1, #asked, 2 do members[#members + 1] = asked[i] end
  local scores = redis.call("ZMSCORE", times, spread(members))
  for i, member in ipairs(members) do
    local band, ms, deliveries = read_score(tonumber(scores[i] or "0"))
    local is_kept = band == CLAIMED and deliveries == tonumber(asked[2 * i])
    statuses[i] = is_kept and EXTENDED_EXTENDED_BYTE or EXTENDED_STALE_BYTE
    if is_kept then
      moved[#moved + 1] = score_of(CLAIMED, math.max(ms, now + visibility), deliveries)
      moved[#moved + 1] = member
    end
  end
  if #moved > 0 then redis.call("ZADD", times, spread(moved)) end
  return table.concat(statuses)
end
