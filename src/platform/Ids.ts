/** Ids of players, ledger entries, payments and other records: unique across all processes of the service, increasing within one, with gaps. */
import { Context, Deferred, Effect, FiberSet, Layer, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { describeSqlError, ServingClient } from "./Database.ts"

/** Ids per `nextval` of the sequence; equals the `INCREMENT` of `ids`. */
const blockSize = 4096

/** Blocks per refill. */
const blocksPerRefill = 4

/** Refill threshold: about a tenth of a second of the busiest service. */
const lowWater = 2 * blockSize

/** No ids are left in memory and the database is unavailable. Retryable. */
export class IdsUnavailable extends Schema.TaggedError<IdsUnavailable>()("IdsUnavailable", {
  reason: Schema.String
}) {}

interface Block {
  next: number
  readonly end: number
}

/**
 * Allocated from a PostgreSQL sequence in blocks, the first before the service is ready, the others before those in memory run out. Blocks of different
 * services interleave: ids that have to rise over all of them need {@link reserveNewest} or {@link renew}.
 */
export class Ids extends Context.Service<Ids, {
  /** The first of `count` consecutive ids, `count` from 1 to 4096. */
  readonly reserve: (count: number) => Effect.Effect<number, IdsUnavailable>
  /** Like `reserve`, with ids above all that any service has in memory: one more query. */
  readonly reserveNewest: (count: number) => Effect.Effect<number, IdsUnavailable>
  /** Begins a generation of ids above all that any service has in memory now. Those in memory go on until the first of them is there. */
  readonly renew: () => void
  /** Newest generation. */
  readonly generation: () => number
  /**
   * First of at least `count` consecutive ids of this generation (the newest) or a later one that are free to {@link use}; undefined when memory does not
   * hold enough.
   */
  readonly peek: (count: number, generation?: number) => number | undefined
  /** Takes `count` of the ids returned by the last `peek`. */
  readonly use: (count: number) => void
  /** Loads more ids into memory, once for all waiting callers. */
  readonly refill: Effect.Effect<void, IdsUnavailable>
}>()("pitboss/platform/Ids") {
  static readonly layer = Layer.effect(
    Ids,
    Effect.gen(function*() {
      const sql = yield* ServingClient
      // Kept: run, blocks, generation, held, refilling, next. Ids that this process may use. Several nodes: its own: the sequence gives each block to
      // one. Ids of several nodes are no order, but a player's rise: who takes players over draws new blocks; ids of players are drawn one by one.
      const run = yield* FiberSet.makeRuntime<never>()
      const blocks: Array<Block> = []
      let generation = 0
      /** Generation of the blocks. */
      let held = 0
      let refilling: Deferred.Deferred<void, IdsUnavailable> | undefined

      const takeBlocks = SqlSchema.findAll({
        Request: Schema.Number,
        Result: Schema.Struct({ first: Schema.Number }),
        execute: (count) => sql`SELECT nextval('ids') AS first FROM generate_series(1, ${count}::int)`
      })
      const nextBlocks = (count: number) =>
        Effect.mapError(
          takeBlocks(count),
          (error) => new IdsUnavailable({ reason: error._tag === "SqlError" ? describeSqlError(error) : error._tag })
        )

      const startRefill = (): Deferred.Deferred<void, IdsUnavailable> => {
        if (refilling !== undefined) return refilling
        const current = Deferred.makeUnsafe<void, IdsUnavailable>()
        refilling = current
        const begun = generation
        run(
          nextBlocks(blocksPerRefill).pipe(
            Effect.map((rows) => {
              if (begun < held) return
              if (begun > held) blocks.length = 0
              held = begun
              for (const { first } of rows) blocks.push({ next: first, end: first + blockSize })
            }),
            Effect.onExit((exit) =>
              Effect.sync(() => {
                if (refilling === current) refilling = undefined
                Deferred.doneUnsafe(current, exit)
              })
            ),
            Effect.ignore
          )
        )
        return current
      }

      const peek = (count: number, from = generation): number | undefined => {
        if (held < from) return undefined
        for (;;) {
          const [block] = blocks
          if (block === undefined) return undefined
          if (block.end - block.next >= count) return block.next
          // consecutive ids matter more than unused ones
          if (blocks.length > 1) blocks.shift()
          else return undefined
        }
      }

      const use = (count: number): void => {
        const [block] = blocks
        if (block === undefined) return
        block.next += count
        if ((blocks.length - 1) * blockSize + block.end - block.next < lowWater) startRefill()
      }

      const refill = Effect.suspend(() => Deferred.await(startRefill()))

      const reserve = (count: number): Effect.Effect<number, IdsUnavailable> =>
        Effect.suspend(() => {
          if (!(count >= 1 && count <= blockSize)) {
            return Effect.die(new Error(`ids are reserved 1 to ${blockSize} at a time, not ${count}`))
          }
          const first = peek(count)
          if (first === undefined) return Effect.andThen(refill, reserve(count))
          use(count)
          return Effect.succeed(first)
        })

      const renew = (): void => {
        generation++
        refilling = undefined
        startRefill()
      }

      const reserveNewest = (count: number): Effect.Effect<number, IdsUnavailable> =>
        count >= 1 && count <= blockSize
          ? Effect.flatMap(nextBlocks(1), ([newest]) =>
            newest === undefined
              ? Effect.fail(new IdsUnavailable({ reason: "the sequence gave no id" }))
              : Effect.succeed(newest.first))
          : Effect.die(new Error(`ids are reserved 1 to ${blockSize} at a time, not ${count}`))

      // on failure the next caller that needs ids tries again
      yield* Effect.ignore(refill)
      return Ids.of({ reserve, reserveNewest, renew, generation: () => generation, peek, use, refill })
    })
  )

  /** Ids in blocks from a synchronous source. */
  static readonly ofBlocks = (takeBlock: (size: number) => number) => {
    const block = { next: 0, end: 0 }
    const peek = (count: number): number => {
      if (block.end - block.next < count) {
        block.next = takeBlock(blockSize)
        block.end = block.next + blockSize
      }
      return block.next
    }
    const use = (count: number): void => {
      block.next += count
    }
    const reserve = (count: number) =>
      Effect.sync(() => {
        const first = peek(count)
        use(count)
        return first
      })
    const renew = (): void => {
      block.end = block.next
    }
    return Ids.of({
      peek,
      use,
      refill: Effect.void,
      reserve,
      reserveNewest: (count) => Effect.andThen(Effect.sync(renew), reserve(count)),
      renew,
      // a new block is there at once
      generation: () => 0
    })
  }

  /** Ids without a database, from `first` on: for tests of code that only needs them distinct. */
  static readonly layerTest = (first = 1000) =>
    Layer.sync(Ids, () => {
      let next = first
      return Ids.ofBlocks((size) => {
        const start = next
        next += size
        return start
      })
    })
}
