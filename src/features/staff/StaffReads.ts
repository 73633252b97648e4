/**
 * Audit of reads by staff: of personal data and of streams one line an hour for the same actor, action and player, so that browsing is visible
 * and the log does not grow with every page; of documents each.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Refusal } from "../../domain/Refusal.ts"
import { oneOf, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { type Action, isAction } from "./Authorisation.ts"
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

const owners = rowsOf(Schema.Struct({ operatorId: Schema.Number }))

/** Parameters of the path and of the query, decoded. */
interface ReadTarget {
  readonly params: { readonly [name: string]: string | undefined }
  readonly query: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
}

/**
 * What an answered read gives away, as its declared answer has it: a list or record of personal data, a document or a stream of events.
 * Undefined: nothing that leaves a line.
 */
export type ReadKind = "personal" | "document" | "events"

export const readKindOf = (action: string, success: ReadonlySet<Schema.Top>): ReadKind | undefined => {
  for (const answer of success) {
    // streams alone are declared by what they are made of
    if ("contentType" in answer) return answer.contentType === "text/event-stream" ? "events" : "document"
  }
  return personalReads.has(action) ? "personal" : undefined
}

/** Words before the action in the subject of a line of each kind. */
const subjects = { document: "export", events: "stream" } as const

export class StaffReads extends Context.Service<StaffReads, {
  /**
   * Audits an answered read: every document, and what is read again and again once an hour. `target` is what it asked for, as the router read it;
   * of the filters only the names are kept.
   */
  readonly note: (
    actor: Actor,
    read: { readonly action: string; readonly kind: ReadKind; readonly target: ReadTarget }
  ) => Effect.Effect<void, Refusal<"TRY_AGAIN">>
}>()("pitboss/staff/StaffReads") {
  static readonly layer = Layer.effect(
    StaffReads,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      /** When each read was noted, the oldest first. */
      const noted = new Map<string, number>()

      const note: StaffReads["Service"]["note"] = Effect.fnUntraced(function*(actor, { action, kind, target }) {
        if (!isAction(action)) return
        const now = yield* Clock.currentTimeMillis
        const { params: { player: playerId }, query } = target
        const filters = Object.keys(query).filter((name) => !positions.includes(name))
          .toSorted()
          .slice(0, 20)
        const page = Number(query["page"] ?? 1)
        const key = `${actor.label} ${action} ${playerId ?? ""} ${filters.join()} ${page}`
        const before = noted.get(key)
        const isNoted = before !== undefined && before <= now && now < before + hourMs
        if (isNoted && kind !== "document") return
        yield* auditLog.change(actor, ({ record }) =>
          Effect.gen(function*() {
            const owner = playerId === undefined ? undefined : yield* oneOf(owners(
              sql`SELECT operator_id AS "operatorId" FROM players WHERE id = ${Number(playerId)}::float8::bigint`
            ))
            yield* record({
              action,
              ...(owner === undefined ? {} : owner),
              ...(playerId === undefined ? {} : { playerId: Number(playerId) }),
              subject: kind !== "personal"
                ? `${subjects[kind]}:${action}`
                : playerId === undefined
                ? (action === "audit.list" ? "audit" : "players")
                : `player:${playerId}`,
              before: null,
              after: kind !== "personal" ? { filters } : playerId === undefined ? { filters, page } : null
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
