/**
 * Ordered event feed of an operator (`docs/decisions/0065-events-in-order.md`). Positions are assigned when events are fanned out to webhooks, by
 * one process at a time, so that a reader who resumes from a position misses none.
 */
import { Clock, Context, Deferred, Effect, Latch, Layer, Schema, Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { FeedQuery } from "../../contract/events/Api.ts"
import { envelope } from "../../domain/state/Events.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { numbers } from "../../platform/ArrayParameters.ts"
import { describeSqlError } from "../../platform/Database.ts"
import { monotonicMs } from "../../platform/MonotonicClock.ts"
import { RecentMap } from "../../platform/RecentMap.ts"
import { parseIso, toDate } from "../../platform/Time.ts"
import { cursorsOfKeys } from "../../store/Cursors.ts"
import { eventColumns, EventRow, eventTables, makeReadEvent } from "../../store/EventBodies.ts"
import { eventRetentionMs } from "../../store/Outbox.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

/** Positions looked at for a page: a filter that finds little ends here, with a cursor to go on from. */
const maxScanned = 10_000

/** Calls held at once: of a key, and in a process. */
const maxHeldOfKey = 4
const maxHeld = 1000

/** Pause between two looks at the positions that held calls wait for. */
const lookEveryMs = 200

const listRows = rowsOf(Schema.Struct({ position: Schema.Number, ...EventRow.fields }))
const keptRows = rowsOf(Schema.Struct({ ...EventRow.fields, madeAt: Schema.Date }))
const Head = Schema.Struct({
  operatorId: Schema.Number,
  position: Schema.Number,
  expiredPosition: Schema.Number,
  expiredId: Schema.Number
})
const headRows = rowsOf(Head)

/** A cursor names its operator: that of another one would leave out events, or repeat them. */
const cursors = cursorsOfKeys(["integer", "integer"])

const notOfHere = refuseFields({ cursor: ["must be a next_cursor of this list"] })
const tooOld = refuseFields({
  cursor: ["is older than 30 days: events after it are no longer kept. Start again without a cursor"]
})
const notFound = refuse("NOT_FOUND", "There is no such event.")
const expired = refuse("NOT_FOUND", "The event is no longer kept: events are kept for 30 days.", { reason: "expired" })

type Unavailable = Refusal<"TRY_AGAIN">

/** Bodies as JSON, and the cursor to go on from. */
export interface FeedPage {
  readonly bodies: ReadonlyArray<string>
  readonly next: string
}

/** What is read at a position: the bodies, where they end, and whether that is the end. */
interface Reading {
  readonly bodies: ReadonlyArray<string>
  readonly last: number
  readonly isAtEnd: boolean
}

interface HeldCall {
  readonly operatorId: number
  readonly after: number
  readonly wake: Latch.Latch
  /** The operator's positions where they woke the call: it needs not ask for them. */
  head: typeof Head.Type | undefined
}

export class EventFeed extends Context.Service<EventFeed, {
  /** Events of an operator behind a cursor, oldest first. Held until there is one for as long as `wait` says, where the key and the process hold few enough. */
  readonly list: (
    operatorId: number,
    keyId: number,
    query: FeedQuery
  ) => Effect.Effect<FeedPage, Refusal<"VALIDATION_FAILED"> | Unavailable>
  /** Body of an event of an operator, as JSON. */
  readonly get: (operatorId: number, eventId: number) => Effect.Effect<string, Refusal<"NOT_FOUND"> | Unavailable>
  /** Number of calls that are held. */
  readonly held: () => number
  /** Answers all held calls, and holds no more. */
  readonly beginDrain: Effect.Effect<void>
}>()("pitboss/events/EventFeed") {
  static readonly layer = Layer.effect(
    EventFeed,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const readEvent = yield* makeReadEvent
      // the real one: events are kept by it, also those of a sandbox
      const clock = yield* Clock.Clock
      // Kept: held, heldOfKeys, seen, underWay, isDraining. Calls that are held until there is an event, the last positions seen, and readings that
      // they share. Several nodes: its own: each node holds the calls that came to it, four of a key; positions are read from the database.
      const held = new Set<HeldCall>()
      const heldOfKeys = new Map<number, number>()
      const someHeld = yield* Latch.make(false)
      const scope = yield* Scope.Scope
      let isDraining = false

      const heads = (operators: ReadonlyArray<number>) =>
        headRows(
          sql`SELECT operator_id AS "operatorId", position, expired_position AS "expiredPosition", expired_id AS "expiredId"
            FROM event_positions WHERE operator_id = ANY(${numbers(operators)}::float8[]::bigint[])`
        )

      /** Last position of operators as it was seen last: a call from there has nothing to read. */
      const seen = new RecentMap<number, number>(maxHeld)

      /** One look for all held calls. */
      const look = Effect.gen(function*() {
        yield* someHeld.await
        const found = yield* heads([...new Set([...held].map(({ operatorId }) => operatorId))])
        const byOperator = new Map(found.map((head) => [head.operatorId, head]))
        for (const { operatorId, position } of found) seen.set(operatorId, position)
        for (const call of held) {
          const head = byOperator.get(call.operatorId)
          if (head === undefined || head.position <= call.after) continue
          call.head = head
          call.wake.openUnsafe()
        }
      }).pipe(
        Effect.catch((error) =>
          Effect.annotateLogs(Effect.logWarning("event feed positions could not be read"), {
            reason: describeSqlError(error)
          })
        ),
        Effect.andThen(Effect.sleep(lookEveryMs))
      )
      yield* Effect.forkScoped(Effect.forever(look))

      /**
       * Waits until the operator has events behind a position, whose positions it gives, or for a time; undefined without waiting where too many calls are
       * held.
       */
      const hold = Effect.fnUntraced(function*(operatorId: number, keyId: number, after: number, forMs: number) {
        const ofKey = heldOfKeys.get(keyId) ?? 0
        if (isDraining || ofKey >= maxHeldOfKey || held.size >= maxHeld) return undefined
        const call: HeldCall = { operatorId, after, wake: Latch.makeUnsafe(false), head: undefined }
        held.add(call)
        heldOfKeys.set(keyId, ofKey + 1)
        someHeld.openUnsafe()
        yield* call.wake.await.pipe(
          Effect.timeoutOption(forMs),
          Effect.ensuring(Effect.sync(() => {
            held.delete(call)
            const left = (heldOfKeys.get(keyId) ?? 1) - 1
            if (left === 0) heldOfKeys.delete(keyId)
            else heldOfKeys.set(keyId, left)
            if (held.size === 0) someHeld.closeUnsafe()
          }))
        )
        return call
      })

      const readBetween = Effect.fnUntraced(
        function*(operatorId: number, from: number, newest: number, query: FeedQuery) {
          const until = Math.min(newest, from + maxScanned)
          const { created_from: createdFrom, created_to: createdTo, player_id: playerId, type } = query
          const rows = yield* listRows(
            sql`SELECT v.position, ${sql.literal(eventColumns)} FROM events v ${sql.literal(eventTables)}
            WHERE ${
              sql.and([
                sql`v.operator_id = ${operatorId}`,
                sql`v.position > ${from}::float8::bigint AND v.position <= ${until}::float8::bigint`,
                ...(type === undefined ? [] : [sql`v.type = ${type}`]),
                ...(playerId === undefined ? [] : [sql`v.player_id = ${playerId}::float8::bigint`]),
                ...(createdFrom === undefined ? [] : [sql`v.created_at >= ${toDate(parseIso(createdFrom) ?? 0)}`]),
                ...(createdTo === undefined ? [] : [sql`v.created_at <= ${toDate(parseIso(createdTo) ?? 0)}`])
              ])
            } ORDER BY v.position LIMIT ${query.per_page}`
          )
          const bodies = yield* Effect.forEach(rows, (row) => Effect.map(readEvent(row), envelope))
          const last = rows.length < query.per_page ? until : rows.at(-1)?.position ?? until
          return { bodies, last, isAtEnd: last === newest } satisfies Reading
        }
      )

      /** Readings under way: calls that woke at the same position share one. */
      const underWay = new Map<string, Deferred.Deferred<Reading, SqlError.SqlError>>()

      const sharedBetween = (operatorId: number, from: number, newest: number, query: FeedQuery) =>
        Effect.suspend(() => {
          const { created_from, created_to, per_page, player_id, type } = query
          const key = JSON.stringify([operatorId, from, newest, per_page, type, player_id, created_from, created_to])
          const shared = underWay.get(key)
          if (shared !== undefined) return Deferred.await(shared)
          const reading = Deferred.makeUnsafe<Reading, SqlError.SqlError>()
          underWay.set(key, reading)
          // a fiber of its own: whoever came first may be gone before the others have read
          return readBetween(operatorId, from, newest, query).pipe(
            Effect.onExit((exit) => {
              underWay.delete(key)
              return Deferred.done(reading, exit)
            }),
            Effect.forkIn(scope),
            Effect.andThen(Deferred.await(reading))
          )
        })

      /** One page behind a position; undefined for the beginning. `woken`: the operator's positions where they are known. */
      const read = Effect.fnUntraced(function*(
        operatorId: number,
        after: number | undefined,
        query: FeedQuery,
        woken: typeof Head.Type | undefined
      ) {
        const head = woken ?? (yield* heads([operatorId]))[0]
        const { expiredPosition = 0, position: newest = 0 } = head ?? {}
        const from = after ?? expiredPosition
        if (from < expiredPosition) return yield* Effect.fail(tooOld)
        if (from > newest) return yield* Effect.fail(notOfHere)
        seen.set(operatorId, newest)
        const nothing: Reading = { bodies: [], last: from, isAtEnd: true }
        if (from === newest) return nothing
        const reading = yield* sharedBetween(operatorId, from, newest, query)
        // where a number is missing, the events may have been removed since the head was read
        if (after !== undefined && reading.last - from > reading.bodies.length) {
          const [later] = yield* heads([operatorId])
          if (from < (later?.expiredPosition ?? 0)) return yield* Effect.fail(tooOld)
        }
        return reading
      })

      const list = Effect.fn("EventFeed.list")(function*(operatorId: number, keyId: number, query: FeedQuery) {
        const cursor = yield* cursors.read(query.cursor)
        if (cursor !== undefined && cursor[0] !== operatorId) return yield* Effect.fail(notOfHere)
        const endsAt = (yield* monotonicMs) + 1000 * (query.wait ?? 0)
        let after = cursor === undefined ? undefined : Number(cursor[1])
        const pageOf = ({ bodies, last }: Pick<Reading, "bodies" | "last">): FeedPage => ({
          bodies,
          next: cursors.write([operatorId, last])
        })
        for (;;) {
          const leftMs = endsAt - (yield* monotonicMs)
          // from there nothing was to be read a moment ago: the next look tells when there is
          const waitsAt = leftMs > 0 && after === seen.get(operatorId) ? after : undefined
          const call = waitsAt === undefined ? undefined : yield* hold(operatorId, keyId, waitsAt, leftMs)
          // its time is over, or the process goes down
          if (call !== undefined && call.head === undefined) return pageOf({ bodies: [], last: call.after })
          const reading: Reading = yield* read(operatorId, after, query, call?.head)
          const isRefused = waitsAt !== undefined && call === undefined
          if (reading.bodies.length > 0 || !reading.isAtEnd || leftMs <= 0 || isRefused) return pageOf(reading)
          after = reading.last
        }
      }, orTryAgain)

      const get = Effect.fn("EventFeed.get")(function*(operatorId: number, eventId: number) {
        const row = yield* oneOf(keptRows(
          sql`SELECT ${sql.literal(eventColumns)}, coalesce(v.made_at, v.created_at) AS "madeAt" FROM events v ${
            sql.literal(eventTables)
          }
            WHERE v.id = ${eventId}::float8::bigint AND v.operator_id = ${operatorId} AND v.position IS NOT NULL`
        ))
        if (row === undefined) {
          const [head] = yield* heads([operatorId])
          return yield* Effect.fail(eventId <= (head?.expiredId ?? 0) ? expired : notFound)
        }
        if (row.madeAt.getTime() < clock.currentTimeMillisUnsafe() - eventRetentionMs) {
          return yield* Effect.fail(expired)
        }
        return envelope(yield* readEvent(row))
      }, orTryAgain)

      const beginDrain = Effect.sync(() => {
        isDraining = true
        for (const call of held) call.wake.openUnsafe()
      })

      return EventFeed.of({ list, get, held: () => held.size, beginDrain })
    })
  )
}
