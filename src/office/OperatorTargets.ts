/** Finds the operator of each record that a staff request names, for the access check of staff bound to operators. */
import { Effect, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { isStorable, oneOf, rowsOf } from "../store/Rows.ts"
import { idIn, makeReferences } from "./References.ts"
import type { Action } from "./Authorisation.ts"

const owners = rowsOf(Schema.Struct({ operatorId: Schema.Number }))

/** The id that a text is; undefined for one that the endpoints take for no id either. */
export const recordId = (text: string): number | undefined =>
  /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined

/** Tables of records by their ids, with the words that refuse one that is not there. */
const tables = {
  player: ["players", "There is no such player."],
  payment: ["payment_requests", "There is no such payment."],
  method: ["payment_methods", "There is no such payment method."],
  alert: ["compliance_alerts", "There is no such alert."],
  bonus: ["bonuses", "There is no such bonus."],
  player_bonus: ["player_bonuses", "There is no such bonus."],
  promo: ["promo_codes", "There is no such promo code."],
  free_rounds: ["free_rounds", "There are no such free rounds."],
  obligation: ["obligations", "There is no such obligation."],
  correction: ["corrections", "There is no such correction."],
  run: ["import_runs", "There is no such import."],
  webhook: ["webhook_endpoints", "There is no such webhook."],
  delivery: ["webhook_deliveries", "There is no such delivery."],
  case: ["cases", "There is no such case."],
  screening: ["register_connections", "There is no such screening."],
  register: ["register_connections", "There is no such register."]
} as const

/** The records that a request may name. */
export type Target = keyof typeof tables | "operator" | "key"

const isTable = (name: string): name is keyof typeof tables => Object.hasOwn(tables, name)

/** Targets that are named by another word than their own. */
const targetByAction: { readonly [action in Action]?: { readonly [name: string]: Target } } = {
  "bonus.cancel": { bonus: "player_bonus" },
  "bonus.granted": { bonus: "player_bonus" },
  "payment.list": { id: "payment" }
}

const overridesOf: { readonly [action: string]: { readonly [name: string]: Target } } = targetByAction

/** Record that a parameter of an action names in path, query or body; undefined for one that names no record of an operator. */
export const targetOf = (action: string, name: string): Target | undefined =>
  overridesOf[action]?.[name] ?? (isTable(name) || name === "operator" || name === "key" ? name : undefined)

/**
 * Parameters that name no record of an operator: filter values, shared data, and names that the handler resolves within the actor's operators. The
 * tests require every parameter of an action to be here or a {@link Target}.
 */
export const withoutTarget: ReadonlySet<string> = new Set([
  // shared by all operators
  "provider",
  "game",
  // a round, a message or a text, looked for within the operators of the actor
  "round",
  "transaction",
  "q",
  // licensees, whose operators only staff of all operators may group
  "licensee",
  // jurisdictions, which operators share
  "code",
  "version",
  // items of a bulk action, each looked for when its turn comes
  "payments",
  "alerts",
  "deliveries",
  "promos",
  // filters and bounds
  "rule",
  "status",
  // whether a verification begins anew
  "all",
  "state",
  "type",
  "wallet",
  "kyc_status",
  "from",
  "since",
  "until",
  "metric",
  "step",
  "by",
  "assigned_to",
  "to",
  "created_from",
  "created_to",
  "older_than_hours",
  "format",
  "at",
  "include_test_players",
  "action",
  "staff",
  "email",
  "username",
  "external_id",
  "external_reference",
  "search",
  "starting_with",
  "kind",
  "result",
  "verdict",
  "event",
  "currency",
  "min_amount",
  "max_amount",
  "metric",
  "step",
  "by",
  "now",
  // pages and walks: below a record that is not the actor's there is nothing
  "sort",
  "page",
  "per_page",
  "limit",
  "cursor",
  "after"
])

/**
 * Resolves a record to its operator's id. A missing record is refused with the endpoint's own refusal; undefined for a malformed name, which the
 * endpoint then rejects itself.
 */
export const makeOwners = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const references = yield* makeReferences

  const ownerOf = Effect.fnUntraced(function*(
    target: Target,
    named: string
  ): Effect.fn.Return<number | undefined, Refusal<"NOT_FOUND"> | SqlError.SqlError> {
    if (target === "operator") return yield* references.operatorId(named)
    if (target === "key") {
      const id = idIn(named)
      if (!isStorable(named)) return yield* Effect.fail(missing(target))
      const key = yield* oneOf(owners(
        sql`SELECT operator_id AS "operatorId" FROM api_keys WHERE ${
          id === undefined ? sql`key = ${named}` : sql`id = ${id}`
        }`
      ))
      return key === undefined ? yield* Effect.fail(missing(target)) : key.operatorId
    }
    const id = recordId(named)
    if (id === undefined) return undefined
    const [table] = tables[target]
    const row = yield* oneOf(owners(
      sql`SELECT operator_id AS "operatorId" FROM ${sql(table)} WHERE id = ${id}::float8::bigint`
    ))
    return row === undefined ? yield* Effect.fail(missing(target)) : row.operatorId
  })
  return ownerOf
})

/** The refusal of a record that is not there, or is another operator's. */
export const missing = (target: Target): Refusal<"NOT_FOUND"> =>
  refuse(
    "NOT_FOUND",
    isTable(target) ? tables[target][1] : `There is no such ${target}.`
  )
