import { Context, Deferred, Effect, FiberSet, Layer, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { describeSqlError, ServingClient } from "./Database.ts"

/** Ids per `nextval` of the sequence; the migration's `INCREMENT`. */
const blockSize = 4096

/** No id is left in memory and the database gave none. Retryable. */
export class IdsUnavailable extends Schema.TaggedError<IdsUnavailable>()("IdsUnavailable", {
  reason: Schema.String
}) {}

interface Block {
  next: number
  readonly end: number
}

/**
 * Ids of players, ledger entries, payments and so on: unique over all running services, rising within one, with gaps. Taken from a
 * PostgreSQL sequence in blocks, each before the one in use ends.
 */
export class Ids extends Context.Service<Ids, {
  /** The first of `count` consecutive ids, `count` from 1 to 4096. */
  readonly reserve: (count: number) => Effect.Effect<number, IdsUnavailable>
  /** As `reserve`, synchronously; undefined when the ids in memory do not suffice. */
  readonly reserveUnsafe: (count: number) => number | undefined
}>()("pitboss/platform/Ids") {
  static readonly layer = Layer.effect(
    Ids,
    Effect.gen(function*() {
      const sql = yield* ServingClient
      const run = yield* FiberSet.makeRuntime<never>()

      /** The block in use, and the one fetched ahead. */
      const blocks: Array<Block> = []
      let fetching: Deferred.Deferred<void, IdsUnavailable> | undefined

      const nextBlock = SqlSchema.findOne({
        Request: Schema.Void,
        Result: Schema.Struct({ first: Schema.Number }),
        execute: () => sql`SELECT nextval('ids') AS first`
      })(undefined).pipe(
        Effect.mapError((error) =>
          new IdsUnavailable({ reason: error._tag === "SqlError" ? describeSqlError(error) : error._tag })
        )
      )

      /** Fetches one more block, once for all who wait. */
      const fetch = (): Deferred.Deferred<void, IdsUnavailable> => {
        if (fetching !== undefined) return fetching
        const current = Deferred.makeUnsafe<void, IdsUnavailable>()
        fetching = current
        run(nextBlock.pipe(
          Effect.map(({ first }) => {
            blocks.push({ next: first, end: first + blockSize })
          }),
          Effect.onExit((exit) =>
            Effect.sync(() => {
              fetching = undefined
              Deferred.doneUnsafe(current, exit)
            })
          ),
          Effect.ignore
        ))
        return current
      }

      const reserveUnsafe = (count: number): number | undefined => {
        for (;;) {
          const block = blocks[0]
          if (block === undefined) return undefined
          const left = block.end - block.next - count
          if (left >= 0) {
            const first = block.next
            block.next += count
            if (blocks.length === 1 && left < blockSize / 2) fetch()
            return first
          }
          if (blocks.length === 1) return undefined
          // consecutive ids matter more than unused ones
          blocks.shift()
        }
      }

      const reserve = (count: number): Effect.Effect<number, IdsUnavailable> =>
        Effect.suspend(() => {
          if (!(count >= 1 && count <= blockSize)) {
            return Effect.die(new Error(`ids are reserved 1 to ${blockSize} at a time, not ${count}`))
          }
          const first = reserveUnsafe(count)
          return first !== undefined
            ? Effect.succeed(first)
            : Effect.flatMap(Deferred.await(fetch()), () => reserve(count))
        })

      return Ids.of({ reserve, reserveUnsafe })
    })
  )

  /** Ids without a database, from `first` on: for tests of code that only needs them distinct. */
  static readonly layerTest = (first = 1000) =>
    Layer.sync(Ids, () => {
      let next = first
      const take = (count: number) => {
        const start = next
        next += count
        return start
      }
      return { reserve: (count) => Effect.sync(() => take(count)), reserveUnsafe: take }
    })
}
