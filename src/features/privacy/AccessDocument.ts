/**
 * Answer to a data access request: all data about a person as one JSON document, streamed page by page, so that memory does not bound its size.
 *
 * Left out: secrets, other people, names of staff, and what must not be disclosed (alerts, cases about money laundering and screening, screenings,
 * reports of suspicion).
 */
import { Clock, Context, Effect, Layer, Option, Schema, Stream } from "effect"
import type { Statement } from "effect/sql"
import type { Refusal } from "../../domain/Refusal.ts"
import { ReportClient } from "../../platform/Database.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { iso } from "../../platform/Time.ts"
import { detailsPurpose } from "../../store/SealedFields.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import { Consents } from "../consents/Consents.ts"
import { Players } from "../players/Players.ts"

/** Rows that are read, held and sent together, and the pause after them: bets go on beside a document. */
const rowsPerPage = 200
const pauseMs = 10

const Row = Schema.Struct({
  key: Schema.String,
  json: Schema.String,
  sealed: Schema.optionalKey(Schema.NullOr(Schema.Uint8Array))
})
type Row = typeof Row.Type

const rows = rowsOf(Row)

/** A list of the document: its rows as JSON by `key`, a text that orders them as their id does. */
interface Section {
  readonly name: string
  readonly columns: string
  readonly from: string
  /** Column of the key, a whole number. */
  readonly key?: string
  readonly where?: string
  readonly sealed?: string
}

const at = (column: string): string => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Fields of an object, each `name: expression`, or a column under its own name. */
const fields = (list: ReadonlyArray<string>): string =>
  `json_build_object(${
    list.map((one) => {
      const [name = "", expression = name] = one.split(": ")
      return `'${name}', ${expression}`
    }).join(", ")
  })`

/** Lines of the audit log about the player, without who acted. */
const changes = (name: string, ...actions: ReadonlyArray<string>): Section => ({
  name,
  columns: fields([`at: ${at("l.at")}`, "before: l.before", "after: l.after"]),
  from: "audit_log l",
  key: "l.id",
  where: `l.action IN (${actions.map((action) => `'${action}'`).join(", ")})`
})

const sections: ReadonlyArray<Section> = [
  {
    name: "former_identities",
    columns: fields(["first_name", "last_name", "birth_date", `changed_at: ${at("changed_at")}`]),
    from: "former_identities",
    key: "(extract(epoch FROM changed_at) * 1000000)::bigint"
  },
  changes("profile_changes", "player.profile"),
  {
    name: "ledger",
    columns: fields([
      "id",
      "wallet",
      "type",
      "amount",
      "balance_after",
      "payment_request_id",
      "game_id",
      "game_round_id",
      `created_at: ${at("created_at")}`
    ]),
    from: "ledger_entries",
    key: "seq"
  },
  {
    name: "payments",
    columns: fields([
      "id",
      "type",
      "status",
      "amount",
      "currency",
      "payment_method",
      "external_reference",
      "reject_reason",
      `created_at: ${at("created_at")}`,
      `paid_at: ${at("paid_at")}`
    ]),
    from: "payment_requests",
    sealed: "details_sealed"
  },
  {
    name: "bonuses",
    columns: fields(["id", "name", "type", "amount", "state", "result", "note", `created_at: ${at("created_at")}`]),
    from: "player_bonuses"
  },
  // the second of each: what staff did
  changes("limit_changes", "player.limits", "player.limit"),
  changes("exclusions", "player.self_exclusion", "player.exclude"),
  {
    name: "sessions",
    columns: fields([
      "id",
      "game_id",
      "mode",
      "platform",
      "ip",
      `opened_at: ${at("opened_at")}`,
      `ended_at: ${at("ended_at")}`
    ]),
    from: "game_sessions"
  },
  {
    name: "acknowledgements",
    columns: fields(["id", "kind", "answer", "field", "text_version", "channel", `at: ${at("at")}`]),
    from: "acknowledgements"
  },
  {
    name: "checks",
    columns: fields([
      "id",
      "kind",
      "event",
      "verdict",
      `asked_at: ${at("asked_at")}`,
      `answered_at: ${at("answered_at")}`,
      "request_id",
      "response_id"
    ]),
    from: "register_checks",
    // none of them: one that is missing among others would tell of its hit
    where: "kind <> 'screening'"
  },
  { name: "notes", columns: fields(["text", `created_at: ${at("created_at")}`]), from: "player_notes" }
]

const wholes = (id: number): ReadonlyArray<readonly [name: string, statement: string]> => [
  [
    "wallets",
    `SELECT ${fields(["real: a.real_balance", "bonus: a.bonus_balance", "currency: p.currency"])}
      FROM accounts a JOIN players p ON p.id = a.player_id WHERE a.player_id = ${id}`
  ],
  ["limits", `SELECT ${fields(["set: limits", "pending: pending_limits"])} FROM players WHERE id = ${id}`],
  [
    "statement",
    `SELECT coalesce(json_agg(${fields(["wallet", "type", "entries", "amount"])} ORDER BY wallet, type), '[]'::json)
      FROM (SELECT wallet, type, count(*) AS entries, sum(amount) AS amount FROM ledger_entries
        WHERE player_id = ${id} GROUP BY wallet, type) sums`
  ]
]

const texts = rowsOf(Schema.Struct({ json: Schema.String }))

export class AccessDocument extends Context.Service<AccessDocument, {
  /** The document about a player of an operator, in parts of its text; `completed` is run before the last one. */
  readonly of: (
    operatorId: number,
    playerId: number,
    completed: Effect.Effect<void, Refusal<"TRY_AGAIN">>
  ) => Stream.Stream<string, Refusal<"NOT_FOUND" | "TRY_AGAIN">>
}>()("pitboss/privacy/AccessDocument") {
  static readonly layer = Layer.effect(
    AccessDocument,
    Effect.gen(function*() {
      const sql = yield* ReportClient
      const personal = yield* PersonalData
      const players = yield* Players
      const consents = yield* Consents

      /** A payment with what is sealed of it. */
      const opened = Effect.fnUntraced(function*(row: Row) {
        if (row.sealed === undefined || row.sealed === null) return row.json
        const details = yield* personal.open(detailsPurpose(Number(row.key)), row.sealed)
        return `${row.json.slice(0, -1)}, "info" : ${JSON.stringify(details["info"] ?? null)}, "notes" : ${
          JSON.stringify(details["notes"] ?? null)
        }, "bank_name" : ${JSON.stringify(details["bank_name"] ?? null)}}`
      })

      const page = (
        playerId: number,
        { columns, from, key = "id", sealed, where = "true" }: Section,
        after: string
      ) => {
        const source: Statement.Fragment = sql.literal(
          `${columns}::text AS json, (${key})::text AS key${
            sealed === undefined ? "" : `, ${sealed} AS sealed`
          } FROM ${from}`
        )
        return rows(
          sql`SELECT ${source} WHERE player_id = ${playerId}::float8::bigint AND ${sql.literal(where)}
            AND ${sql.literal(key)} > ${after}::text::bigint ORDER BY ${sql.literal(key)} LIMIT ${rowsPerPage}`
        )
      }

      const listed = (playerId: number, section: Section) =>
        Stream.paginate("-1", (after: string) =>
          Effect.gen(function*() {
            const found = yield* page(playerId, section, after)
            const last = found.at(-1)
            const items = yield* Effect.forEach(found, opened)
            const text = items.map((item, index) => `${after === "-1" && index === 0 ? "" : ","}\n${item}`).join("")
            const next = last === undefined || found.length < rowsPerPage
              ? Option.none<string>()
              : Option.some(last.key)
            if (Option.isSome(next)) yield* Effect.sleep(pauseMs)
            return [[text], next] as const
          }).pipe(orTryAgain)).pipe(
            (pages) => Stream.make(`,\n"${section.name}":[`).pipe(Stream.concat(pages), Stream.concat(Stream.make("]")))
          )

      const begun = Effect.fnUntraced(function*(operatorId: number, playerId: number) {
        const player = yield* players.get(operatorId, playerId)
        const now = yield* Clock.currentTimeMillis
        const said = yield* consents.list(operatorId, playerId)
        const parts: Array<string> = [
          `{"data":{"generated_at":"${iso(now)}",\n"player":${JSON.stringify(player)},\n"consents":${
            JSON.stringify(said)
          }`
        ]
        for (const [name, statement] of wholes(Math.trunc(playerId))) {
          const [found] = yield* orTryAgain(texts(sql`SELECT (${sql.literal(statement)})::text AS json`))
          parts.push(`,\n"${name}":${found?.json ?? "null"}`)
        }
        return parts.join("")
      })

      return AccessDocument.of({
        of: (operatorId, playerId, completed) =>
          sections.reduce<Stream.Stream<string, Refusal<"NOT_FOUND" | "TRY_AGAIN">>>(
            (document, section) => Stream.concat(document, listed(playerId, section)),
            Stream.fromEffect(begun(operatorId, playerId))
          ).pipe(Stream.concat(Stream.fromEffect(Effect.as(completed, "}}\n"))))
      })
    })
  )
}
