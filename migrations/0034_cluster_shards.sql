-- Who owned a shard of players last. Its lock says who may take it, and is free as soon as the connection of its owner is lost; this says until
-- when that owner may still believe to have it.
CREATE TABLE cluster_shards (
  shard integer PRIMARY KEY,
  owner text NOT NULL,
  -- rises with every owner
  tenure bigint NOT NULL DEFAULT 1,
  taken_at timestamptz NOT NULL,
  -- from when on nobody before the owner believes to have it
  free_at timestamptz NOT NULL,
  -- the owner has given it up
  is_released boolean NOT NULL DEFAULT false
);
