/**
 * Who owned a shard last, in PostgreSQL. A lock is free as soon as the connection of its owner is lost, and that owner need not know yet: whoever
 * takes the lock then has to wait for as long as the owner before may believe to have it, which is a lease after it last showed itself.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { ClusterError } from "effect/cluster"
import { SqlClient, SqlSchema } from "effect/sql"

/** A shard in the hands of one node. */
export interface Tenure {
  readonly shard: number
  /** Rises with every owner of the shard. */
  readonly tenure: number
}

export interface Begun extends Tenure {
  /** Milliseconds from now in which an owner before may still believe to have the shard; 0 when none does. */
  readonly waitMs: number
}

export class Tenures extends Context.Service<Tenures, {
  /** Notes that this node has shards, whose locks it holds. */
  readonly begin: (shards: ReadonlyArray<number>) => Effect.Effect<ReadonlyArray<Begun>, ClusterError.PersistenceError>
  /** Notes that this node has given up shards, before it releases their locks: the next owner need not wait. */
  readonly end: (tenures: ReadonlyArray<Tenure>) => Effect.Effect<void, ClusterError.PersistenceError>
}>()("pitboss/cluster/Tenures") {
  /** `owner`: the address of this node. */
  static readonly layer = (owner: string, leaseSeconds: number) =>
    Layer.effect(
      Tenures,
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const begin = SqlSchema.findAll({
          Request: Schema.Array(Schema.Int),
          Result: Schema.Struct({ shard: Schema.Int, tenure: Schema.Int, waitMs: Schema.Int }),
          // a node shows itself when it takes a shard, and by its heartbeat, which is written before it looks at its locks
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
              RETURNING shard, tenure::int4 AS tenure,
                greatest(0, ceil(extract(epoch FROM free_at - now()) * 1000))::int4 AS "waitMs"`
        })
        return Tenures.of({
          begin: (shards) => begin(shards).pipe((noted) => ClusterError.PersistenceError.refail(noted)),
          // seen at once; were it lost with the server, the next owner would wait: nobody has to wait for the disk now
          end: (tenures) =>
            sql`UPDATE cluster_shards AS own SET is_released = true
              FROM (SELECT set_config('synchronous_commit', 'off', true)) AS hasty, unnest(${
              tenures.map(({ shard }) => shard)
            }::int4[], ${tenures.map(({ tenure }) => tenure)}::int8[])
                AS given (shard, tenure)
              WHERE own.shard = given.shard AND own.tenure = given.tenure`.pipe(
              Effect.asVoid,
              (noted) => ClusterError.PersistenceError.refail(noted)
            )
        })
      })
    )
}
