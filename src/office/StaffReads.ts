/**
 * Audits reads by staff: where player data or a stream is read, one line per hour for the same actor, action and record, so that browsing is visible
 * without a line for every page; one line for each document. The audited calls are declared in `http/StaffReadTerms.ts`.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Refusal } from "../domain/Refusal.ts"
import type { StaffRead } from "../domain/staff/Staff.ts"
import { toDate } from "../platform/Time.ts"
import { oneOf, orTryAgain, rowsOf } from "../store/Rows.ts"
import { AuditLog } from "./AuditLog.ts"
import { isAction } from "./Authorisation.ts"
import { recordId, targetOf } from "./OperatorTargets.ts"
import type { Actor } from "./Actor.ts"

const hourMs = 3_600_000

/** Reads remembered at once: beyond, the oldest are forgotten, and leave another line when they come again. */
const maxRemembered = 10_000

const owners = rowsOf(Schema.Struct({ operatorId: Schema.Number, playerId: Schema.Number }))
const presence = rowsOf(Schema.Struct({ isThere: Schema.Boolean }))

/** Tables of records of one player, with the column of the player's id. */
const tables = {
  player: ["players", "id"],
  payment: ["payment_requests", "player_id"],
  alert: ["compliance_alerts", "player_id"],
  case: ["cases", "player_id"]
} as const

const isOfPlayer = (name: string | undefined): name is keyof typeof tables =>
  name !== undefined && Object.hasOwn(tables, name)

type Values = { readonly [name: string]: string | ReadonlyArray<string> | undefined }

/** Parameters of the path and of the query, decoded. */
interface ReadTarget {
  readonly params: Values
  readonly query: Values
}

/** Words before the action in the subject of a line of each kind that names no record. */
const subjects = { document: "export", events: "stream", personal: "list" } as const

export class StaffReads extends Context.Service<StaffReads, {
  /**
   * Audits an answered read: every document, and what is read again and again once an hour. `target` is what it asked for, as the router read it;
   * of the filters the names are kept, and whose records were asked for by id. `changedFrom`: beginning of a change that answered with the record, epoch
   * milliseconds: a line that the change has left says who saw it.
   */
  readonly note: (
    actor: Actor,
    read: StaffRead,
    target: ReadTarget,
    changedFrom?: number
  ) => Effect.Effect<void, Refusal<"TRY_AGAIN">>
}>()("pitboss/staff/StaffReads") {
  static readonly layer = Layer.effect(
    StaffReads,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const ownerOf = ({ id, noun }: { readonly noun: keyof typeof tables; readonly id: number }) => {
        const [table, player] = tables[noun]
        return oneOf(owners(
          sql`SELECT operator_id AS "operatorId", ${sql(player)} AS "playerId" FROM ${sql(table)}
            WHERE id = ${id}::float8::bigint`
        ))
      }
      /** Whether a change by this person has left a line: about this player, or, of a record that is not one player's, about anything. */
      const hasLine = (actor: Actor, read: string, from: number, playerId: number | undefined) =>
        Effect.map(
          orTryAgain(oneOf(presence(
            sql`SELECT EXISTS (SELECT FROM audit_log WHERE actor = ${actor.label} AND at >= ${
              toDate(from)
            } AND action <> ${read}
              AND (${playerId ?? null}::float8 IS NULL OR player_id = ${
              playerId ?? null
            }::float8::bigint)) AS "isThere"`
          ))),
          (found) => found?.isThere === true
        )
      // Kept: noted. Reads of what tells of players, noted in this hour. Several nodes: its own: one line an hour and node.
      /** When each read was noted, the oldest first. */
      const noted = new Map<string, number>()

      const note: StaffReads["Service"]["note"] = Effect.fnUntraced(
        function*(actor, read, { params, query }, changedFrom) {
          const { action } = read
          if (!isAction(action)) return
          const now = yield* Clock.currentTimeMillis
          const filters = read.filters.filter((name) => query[name] !== undefined).toSorted()
          const page = Number(query["page"] ?? 1)
          /** The record of a player that the request names first. */
          const named = [params, query].flatMap((values) =>
            Object.entries(values).flatMap(([name, value]) => {
              // reading the log adds nothing to what it answers of a player
              const isTaken = values === params || (filters.includes(name) && action !== "audit.list")
              const noun = isTaken ? targetOf(action, name) : undefined
              const id = typeof value === "string" ? recordId(value) : undefined
              return isOfPlayer(noun) && id !== undefined ? [{ noun, id }] : []
            })
          )[0]
          const noun = Object.keys(params).at(-1)
          const subject = noun !== undefined
            ? `${noun}:${Object.values(params).join("/")}`
            : named !== undefined
            ? `${named.noun}:${named.id}`
            : `${subjects[read.kind]}:${action}`
          const key = `${actor.label} ${action} ${subject} ${named?.id ?? ""} ${filters.join()} ${page}`
          const before = noted.get(key)
          const isNoted = before !== undefined && before <= now && now < before + hourMs
          if (isNoted && read.kind !== "document") return
          if (changedFrom !== undefined) {
            const owner = named === undefined ? undefined : yield* orTryAgain(ownerOf(named))
            if (yield* hasLine(actor, action, changedFrom, owner?.playerId)) return
          }
          yield* auditLog.change(actor, ({ record }) =>
            Effect.gen(function*() {
              const owner = named === undefined ? undefined : yield* ownerOf(named)
              const isList = noun === undefined
              yield* record({
                action,
                ...owner,
                subject,
                before: null,
                after: isList ? { filters, ...(read.kind === "personal" ? { page } : {}) } : null
              })
            }))
          noted.delete(key)
          noted.set(key, now)
          const [oldest] = noted.keys()
          if (noted.size > maxRemembered && oldest !== undefined) noted.delete(oldest)
        }
      )

      return StaffReads.of({ note })
    })
  )
}
