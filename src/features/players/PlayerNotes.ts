/** Append-only notes on players: by staff, and from status changes, payments and bonus grants. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { iso, type Period, toDate } from "../../platform/Time.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { newestFirst, periodFilters, unscopedListOf } from "../../store/Lists.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { detailsPurpose } from "../../store/SealedFields.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import type { Actor } from "../../office/Actor.ts"

const NoteRow = Schema.Struct({
  id: Schema.Number,
  player_id: Schema.Number,
  author: Schema.String,
  text: Schema.String,
  subject: Schema.String,
  created_at: Schema.Date
})

const toFields = (row: typeof NoteRow.Type) => ({ ...row, created_at: iso(row.created_at.getTime()) })

/** A note as it is shown. */
export type NoteFields = ReturnType<typeof toFields>

const ListedRow = Schema.Struct({ ...NoteRow.fields, sealed: Schema.NullOr(Schema.Uint8Array) })
const noteRows = rowsOf(ListedRow)
const owners = rowsOf(Schema.Struct({ operatorId: Schema.Number }))

const notFound = refuse("NOT_FOUND", "There is no such player.")

type Failure = Refusal<"NOT_FOUND" | "TRY_AGAIN">

export class PlayerNotes extends Context.Service<PlayerNotes, {
  /** Writes a note on any player. No rule reads it, so it does not pass the player's actor. */
  readonly add: (actor: Actor, playerId: number, text: string) => Effect.Effect<NoteFields, Failure>
  /** Everything that was written about any player, newest first. */
  readonly list: (
    playerId: number,
    query: PartQuery & Period
  ) => Effect.Effect<Part<NoteFields>, Refusal<"VALIDATION_FAILED"> | Failure>
}>()("pitboss/players/PlayerNotes") {
  static readonly layer = Layer.effect(
    PlayerNotes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const personal = yield* PersonalData

      /** A line of the list; the note of a payment is sealed with its other details. */
      const toLine = ({ sealed, ...row }: typeof ListedRow.Type) =>
        sealed === null
          ? Effect.succeed(toFields(row))
          : Effect.map(
            personal.open(detailsPurpose(row.id), sealed),
            ({ notes }) => toFields({ ...row, text: notes ?? "" })
          )

      const ownerOf = Effect.fnUntraced(function*(playerId: number) {
        const row = yield* oneOf(owners(
          sql`SELECT operator_id AS "operatorId" FROM players WHERE id = ${playerId}::float8::bigint`
        ))
        return row === undefined ? yield* Effect.fail(notFound) : row.operatorId
      })

      const add = Effect.fn("PlayerNotes.add")((actor: Actor, playerId: number, text: string) =>
        auditLog.change(actor, ({ newId, now, record }) =>
          Effect.gen(function*() {
            const operatorId = yield* ownerOf(playerId)
            yield* sql`INSERT INTO player_notes (id, operator_id, player_id, author, text, created_at)
              VALUES (${newId}, ${operatorId}, ${playerId}, ${actor.label}, ${text}, ${toDate(now)})`
            yield* record({
              action: "player.note",
              operatorId,
              playerId,
              subject: `player:${playerId}`,
              before: null,
              after: { note_id: newId, text }
            })
            const subject = `player:${playerId}`
            return { id: newId, player_id: playerId, author: actor.label, text, subject, created_at: iso(now) }
          }))
      )

      /** A note that came with a payment or a grant is the operator's: which key sent it is not kept. */
      const notes = unscopedListOf<typeof ListedRow.Type, { readonly playerId: number } & Period, "newest">(sql, {
        record: "playerId",
        read: (ofList, end) =>
          noteRows(
            sql`SELECT id, player_id::float8 AS player_id, author, text, subject, created_at, sealed FROM (
              (SELECT id, player_id, author, text, 'player:' || player_id AS subject, created_at, NULL::bytea AS sealed FROM player_notes
              WHERE ${ofList} ${end})
              UNION ALL
              (SELECT id, player_id, 'operator:' || operator_id, '', 'payment:' || id, created_at, details_sealed
              FROM payment_requests WHERE has_notes AND ${ofList} ${end})
              UNION ALL
              (SELECT id, player_id, 'operator:' || operator_id, note, 'player_bonus:' || id, created_at, NULL
              FROM player_bonuses WHERE note IS NOT NULL AND ${ofList} ${end})
            ) n ${end}`
          ),
        filters: {
          ...periodFilters(sql, "created_at"),
          playerId: (value) => sql`player_id = ${value}::float8::bigint`
        },
        orders: { newest: newestFirst("created_at", "id", (row) => row.created_at.getTime()) }
      })

      const list = Effect.fn("PlayerNotes.list")(function*(playerId: number, query: PartQuery & Period) {
        yield* ownerOf(playerId)
        const { items, next } = yield* notes.part(null, { playerId, ...query }, "newest")
        return { items: yield* Effect.forEach(items, toLine), next }
      }, orTryAgain)

      return PlayerNotes.of({ add, list })
    })
  )
}
