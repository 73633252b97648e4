/**
 * Shards: the groups of players, by id (key), that move between nodes as one. The shard of a key is the same on every node, in every release, for
 * ever: two nodes that disagreed would both believe that they own a player.
 */
import { HashRing } from "effect"
import type { RunnerAddress } from "effect/cluster"

/** Shards are numbered from 1. */
export const shardCount = 300

/** Name of the shard group in effect/cluster. */
export const shardGroup = "default"

/** Shard of a key, a safe integer. Neighbouring ids are spread over distant shards. */
export const shardOf = (key: number): number => {
  let mixed = key ^ (key / 4_294_967_296)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b)
  return ((mixed ^ (mixed >>> 16)) >>> 0) % shardCount + 1
}

/** `host:port`: identifies a node for its lifetime. */
export const nameOf = ({ host, port }: RunnerAddress.RunnerAddress): string => `${host}:${port}`

/** Assigned owner of each shard, at the shard's number minus one; empty without nodes. Same algorithm as `Sharding`. */
export const assign = (
  nodes: ReadonlyArray<{ readonly address: RunnerAddress.RunnerAddress; readonly weight: number }>
): ReadonlyArray<string> => {
  const ring = HashRing.make<RunnerAddress.RunnerAddress>()
  for (const { address, weight } of nodes) HashRing.add(ring, address, { weight })
  return (HashRing.getShards(ring, shardCount) ?? []).map(nameOf)
}
