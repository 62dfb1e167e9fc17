  -- Whether what was acknowledged in `where`, <born>.<number>, is in the table as it was when the shard was made to follow
  -- it: `limit`, when the shard was made that the ledger's last generation came from, " ", that generation.
  local limit_born, limit_number = string.match(limit, "^(%x+) (%d+)$")
  local where_born, where_number = string.match(where, "^(%x*)%.(%d+)$")
  local is_in_table = limit_born and where_number and tonumber(where_number) <= tonumber(limit_number)
    and tonumber("0" .. where_born, 16) <= tonumber(limit_born, 16)
