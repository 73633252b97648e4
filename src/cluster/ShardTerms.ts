/**
 * Last owner of each shard, in PostgreSQL. A lock is free as soon as its owner's connection is lost, possibly before the owner notices: the
 * next owner must wait while the previous one may still believe that it holds the lock, one lease after its last sign of life.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { ClusterError } from "effect/cluster"
import { SqlClient, SqlSchema } from "effect/sql"

/** Ownership of a shard by one node. */
export interface ShardTerm {
  readonly shard: number
  /** Fencing epoch: increases with every new owner of the shard. */
  readonly term: number
}

export interface StartedTerm extends ShardTerm {
  /** Time in ms from now during which a previous owner may still believe that it owns the shard; 0 without one. */
  readonly waitMs: number
}

export class ShardTerms extends Context.Service<ShardTerms, {
  /** Records this node as the owner of shards whose locks it holds. */
  readonly begin: (
    shards: ReadonlyArray<number>
  ) => Effect.Effect<ReadonlyArray<StartedTerm>, ClusterError.PersistenceError>
  /** Records that this node has given up shards, before it releases their locks, so that the next owner need not wait. */
  readonly end: (terms: ReadonlyArray<ShardTerm>) => Effect.Effect<void, ClusterError.PersistenceError>
}>()("pitboss/cluster/ShardTerms") {
  /** `owner`: address of this node. */
  static readonly layer = (owner: string, leaseSeconds: number) =>
    Layer.effect(
      ShardTerms,
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const begin = SqlSchema.findAll({
          Request: Schema.Array(Schema.Int),
          Result: Schema.Struct({ shard: Schema.Int, term: Schema.Int, waitMs: Schema.Int }),
          // signs of life are taking a shard and the heartbeat, which is written before the locks are checked
          execute: (shards) =>
            sql`INSERT INTO cluster_shards AS own (shard, owner, taken_at, free_at)
              SELECT shard, ${owner}, now(), now() FROM unnest(${shards}::int4[]) AS asked (shard) ORDER BY shard
              ON CONFLICT (shard) DO UPDATE SET
                owner = EXCLUDED.owner,
                tenure = own.tenure + 1,
                taken_at = EXCLUDED.taken_at,
                is_released = false,
                free_at = CASE WHEN own.is_released OR own.owner = EXCLUDED.owner THEN own.free_at ELSE greatest(
                  own.free_at,
                  greatest(
                    own.taken_at,
                    (SELECT last_heartbeat AT TIME ZONE 'UTC' FROM cluster_runners WHERE address = own.owner)
                  ) + ${leaseSeconds} * INTERVAL '1 second'
                ) END
              RETURNING shard, tenure::int4 AS term,
                greatest(0, ceil(extract(epoch FROM free_at - now()) * 1000))::int4 AS "waitMs"`
        })
        return ShardTerms.of({
          begin: (shards) => begin(shards).pipe((noted) => ClusterError.PersistenceError.refail(noted)),
          // visible at once; not durable at once: if the server loses it, the next owner waits out the lease
          end: (terms) =>
            sql`UPDATE cluster_shards AS own SET is_released = true
              FROM (SELECT set_config('synchronous_commit', 'off', true)) AS hasty, unnest(${
              terms.map(({ shard }) => shard)
            }::int4[], ${terms.map(({ term }) => term)}::int8[])
                AS given (shard, tenure)
              WHERE own.shard = given.shard AND own.tenure = given.tenure`.pipe(
              Effect.asVoid,
              (noted) => ClusterError.PersistenceError.refail(noted)
            )
        })
      })
    )
}
