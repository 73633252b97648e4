/**
 * Audit of reads of personal data by staff: one line an hour for the same actor, action and player, so that browsing is visible
 * and the log does not grow with every page.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Refusal } from "../../domain/Refusal.ts"
import { oneOf, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import type { Action } from "./Authorisation.ts"
import type { Actor } from "./Staff.ts"

const hourMs = 3_600_000

/** Reads remembered at once: beyond, the oldest are forgotten, and leave another line when they come again. */
const maxRemembered = 10_000

/** Actions that show personal data. */
export const personalReads: ReadonlySet<string> = new Set<Action>([
  "player.show",
  "player.list",
  "player.notes",
  "player.sessions",
  "player.timeline",
  "search.find",
  "audit.list"
])

/** Fields of a query that say where in a list it is. */
const positions = ["page", "per_page", "cursor", "limit"]

const isPersonalRead = (action: string): action is Action => personalReads.has(action)

const owners = rowsOf(Schema.Struct({ operatorId: Schema.Number }))

/** Parameters of the path and of the query, decoded. */
interface ReadTarget {
  readonly params: { readonly [name: string]: string | undefined }
  readonly query: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
}

export class StaffReads extends Context.Service<StaffReads, {
  /** Audits an answered read. `target` is what it asked for, as the router read it; of the filters only the names are kept. */
  readonly note: (actor: Actor, action: string, target: ReadTarget) => Effect.Effect<void, Refusal<"TRY_AGAIN">>
}>()("pitboss/staff/StaffReads") {
  static readonly layer = Layer.effect(
    StaffReads,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      /** When each read was noted, the oldest first. */
      const noted = new Map<string, number>()

      const note: StaffReads["Service"]["note"] = Effect.fnUntraced(function*(actor, action, target) {
        if (!isPersonalRead(action)) return
        const now = yield* Clock.currentTimeMillis
        const { params: { player: playerId }, query } = target
        const filters = Object.keys(query).filter((name) => !positions.includes(name))
          .toSorted()
          .slice(0, 20)
        const page = Number(query["page"] ?? 1)
        const key = `${actor.label} ${action} ${playerId ?? ""} ${filters.join()} ${page}`
        const before = noted.get(key)
        if (before !== undefined && before <= now && now < before + hourMs) return
        yield* auditLog.change(actor, ({ record }) =>
          Effect.gen(function*() {
            const owner = playerId === undefined ? undefined : yield* oneOf(owners(
              sql`SELECT operator_id AS "operatorId" FROM players WHERE id = ${Number(playerId)}::float8::bigint`
            ))
            yield* record({
              action,
              ...(owner === undefined ? {} : owner),
              ...(playerId === undefined ? {} : { playerId: Number(playerId) }),
              subject: playerId === undefined ? (action === "audit.list" ? "audit" : "players") : `player:${playerId}`,
              before: null,
              after: playerId === undefined ? { filters, page } : null
            })
          }))
        noted.delete(key)
        noted.set(key, now)
        const [oldest] = noted.keys()
        if (noted.size > maxRemembered && oldest !== undefined) noted.delete(oldest)
      })

      return StaffReads.of({ note })
    })
  )
}
