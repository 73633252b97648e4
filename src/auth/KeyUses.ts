/** Records when each API key was first used (its first accepted request), which completes the last set-up step of its operator. */
import { Context, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { describeSqlError } from "../platform/Database.ts"
import { toDate } from "../platform/Time.ts"

export class KeyUses extends Context.Service<KeyUses, {
  /** Notes an accepted request of a key, by id; written within a second if it is the key's first. `now` in epoch milliseconds. */
  readonly note: (key: number, now: number) => void
}>()("pitboss/auth/KeyUses") {
  static readonly layer = Layer.effect(
    KeyUses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // Kept: known, waiting. Keys with an accepted request in this process, and first uses that are not written yet. Several nodes: its own: the
      // earliest that is written stands.
      // as many as there are keys
      const known = new Set<number>()
      const waiting = new Map<number, number>()

      const write = Effect.suspend(() => {
        const uses = [...waiting]
        waiting.clear()
        return Effect.forEach(
          uses,
          ([key, at]) =>
            sql`UPDATE api_keys SET first_used_at = ${toDate(at)} WHERE id = ${key} AND first_used_at IS NULL`.pipe(
              Effect.catch((error) => {
                // noted again by the next request
                known.delete(key)
                return Effect.annotateLogs(Effect.logWarning("first use of an API key was not recorded"), {
                  reason: describeSqlError(error)
                })
              })
            ),
          { discard: true }
        )
      })
      yield* Effect.forkScoped(Effect.repeat(write, Schedule.spaced("1 second")))

      return KeyUses.of({
        note: (key, now) => {
          if (known.has(key)) return
          known.add(key)
          waiting.set(key, now)
        }
      })
    })
  )

  /** Notes nothing. */
  static readonly layerNone = Layer.succeed(KeyUses, KeyUses.of({ note: () => undefined }))
}
