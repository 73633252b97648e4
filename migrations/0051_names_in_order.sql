-- Lists by name go by letters, not by bytes: alpha, Beta, Éclair, Zed. The root collation of ICU is in every database of a PostgreSQL that is
-- built with ICU, as all packages are; games_name is built anew with the column.
ALTER TABLE games
  ALTER COLUMN name TYPE text COLLATE "und-x-icu",
  ALTER COLUMN category TYPE text COLLATE "und-x-icu";
ALTER TABLE providers ALTER COLUMN name TYPE text COLLATE "und-x-icu";
ALTER TABLE bonuses ALTER COLUMN name TYPE text COLLATE "und-x-icu";
