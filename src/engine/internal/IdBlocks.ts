import { Deferred, Effect, type Fiber } from "effect"
import type { Ids } from "../../platform/Ids.ts"
import { StoreUnavailable } from "../Failures.ts"
import { idsPerDecision } from "../Machine.ts"

const idsPerBlock = 4096

/** Ids for decisions: a block in use and a spare one, reserved ahead. */
export interface IdBlocks {
  /** Whether a decision has to wait for {@link IdBlocks.reserved}; switches to the spare block. */
  readonly lacksIds: () => boolean
  /** Reserves a block, once for all who wait. */
  readonly reserved: Effect.Effect<void, StoreUnavailable>
  /** First of at least `idsPerDecision` free ids, unless {@link IdBlocks.lacksIds}. */
  readonly nextId: () => number
  readonly use: (count: number) => void
}

export const makeIdBlocks = (
  ids: Ids["Service"],
  fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
): IdBlocks => {
  let next = 0
  let end = 0
  /** The first id of the block after the one in use. */
  let spare: number | undefined
  let reserving: Deferred.Deferred<void, StoreUnavailable> | undefined

  const reserve = (): Deferred.Deferred<void, StoreUnavailable> => {
    if (reserving !== undefined) return reserving
    const current = Deferred.makeUnsafe<void, StoreUnavailable>()
    reserving = current
    fork(
      ids.reserve(idsPerBlock).pipe(
        Effect.map((first) => {
          spare = first
        }),
        Effect.mapError((failure) => new StoreUnavailable({ reason: String(failure) })),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            reserving = undefined
            Deferred.doneUnsafe(current, exit)
          })
        ),
        Effect.ignore
      )
    )
    return current
  }

  return {
    lacksIds: () => {
      if (end - next >= idsPerDecision) return false
      if (spare === undefined) return true
      next = spare
      end = spare + idsPerBlock
      spare = undefined
      return false
    },
    reserved: Effect.suspend(() => Deferred.await(reserve())),
    nextId: () => next,
    use: (count) => {
      next += count
      if (spare === undefined && end - next < idsPerBlock / 2) reserve()
    }
  }
}
