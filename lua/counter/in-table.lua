  -- Whether the table has a batch that was acknowledged in `where`, <born>.<number>. `limit` is the ledger of the last
  -- rebase: when the shard of its last generation was created, " ", that generation.
  local limit_born, limit_number = string.match(limit, "^(%x+) (%d+)$")
  local where_born, where_number = string.match(where, "^(%x*)%.(%d+)$")
  local is_in_table = limit_born and where_number and tonumber(where_number) <= tonumber(limit_number)
    and tonumber("0" .. where_born, 16) <= tonumber(limit_born, 16)
