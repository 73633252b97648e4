/**
 * Shards: the portions that keys are handed from node to node in. A key's shard is the same on every node, in every release, for ever: two
 * nodes that disagreed would each believe that a player is theirs.
 */
import { HashRing } from "effect"
import type { RunnerAddress } from "effect/cluster"

/** Shards are numbered from 1. */
export const shardCount = 300

/** Name of the group that effect/cluster knows the shards under. */
export const shardGroup = "default"

/** The shard of a key, a safe integer. Neighbouring ids fall far apart. */
export const shardOf = (key: number): number => {
  let mixed = key ^ (key / 4_294_967_296)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b)
  return ((mixed ^ (mixed >>> 16)) >>> 0) % shardCount + 1
}

/** `host:port`: names a node for as long as it lives. */
export const nameOf = ({ host, port }: RunnerAddress.RunnerAddress): string => `${host}:${port}`

/** Who is to own each shard, at its number less one; empty without nodes. As `Sharding` decides it. */
export const assign = (
  nodes: ReadonlyArray<{ readonly address: RunnerAddress.RunnerAddress; readonly weight: number }>
): ReadonlyArray<string> => {
  const ring = HashRing.make<RunnerAddress.RunnerAddress>()
  for (const { address, weight } of nodes) HashRing.add(ring, address, { weight })
  return (HashRing.getShards(ring, shardCount) ?? []).map(nameOf)
}
