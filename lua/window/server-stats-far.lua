#!lua flags=allow-oom
-- Statistics of one window that reaches over at most 127 closed chunks (see window-stats).
-- @include window/window-stats
local keys_per_step = 128
local arguments_per_step = 2

local function step(k, a, now)
  return window_stats(k, a, now)
end
