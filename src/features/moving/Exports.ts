/** Exports an operator's players as import lines, ordered by external id (docs/decisions/0068-moving-in.md). */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { openWithdrawal } from "../../contract/moving/LineResource.ts"
import type { LinePart } from "../../contract/moving/StaffApi.ts"
import { ConsentStatement } from "../../domain/state/ConsentStatement.ts"
import { Instant } from "../../domain/Instant.ts"
import { type Refusal, temporarilyUnavailable } from "../../domain/Refusal.ts"
import type { Actor } from "../../office/Actor.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { makeReferences } from "../../office/References.ts"
import { numbers } from "../../platform/ArrayParameters.ts"
import { ReportClient } from "../../platform/Database.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { makePlayerStates } from "../../store/PlayerStates.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { passwordPurpose } from "../../store/SealedFields.ts"
import { playerColumns, type PlayerRow, playerRows } from "../players/PlayerProfile.ts"
import { exportedId, lineOf } from "./internal/PlayersAsLines.ts"

/** Players of one answer. */
const perPart = 200

const hourMs = 3_600_000

const factRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  deposits: Schema.Number,
  withdrawals: Schema.Number,
  held: Schema.Number,
  passwordSealed: Schema.NullOr(Schema.Uint8Array),
  consents: Schema.NullOr(Schema.Array(ConsentStatement))
}))

const notes = rowsOf(Schema.Struct({ isThere: Schema.Boolean }))

const withdrawalRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  playerId: Schema.Number,
  amount: Schema.Number,
  paymentMethod: Schema.String,
  externalReference: Schema.NullOr(Schema.String),
  createdAt: Instant
}))

type LinePart = typeof LinePart.Type

export class Exports extends Context.Service<Exports, {
  /** Two hundred players after one, named as in the export, with what each has open; persons who were erased are left out. */
  readonly part: (
    actor: Actor,
    operator: string,
    after: string | undefined
  ) => Effect.Effect<LinePart, Refusal<"NOT_FOUND" | "TRY_AGAIN">>
}>()("pitboss/moving/Exports") {
  static readonly layer = Layer.effect(
    Exports,
    Effect.gen(function*() {
      const sql = yield* ReportClient
      // the real one, as that of the audit log
      const clock = yield* Clock.Clock
      const personal = yield* PersonalData
      const secrets = yield* Secrets
      const auditLog = yield* AuditLog
      const references = yield* makeReferences
      const players = playerRows(personal)
      const statesOf = makePlayerStates(sql)
      const order = sql.literal(`(coalesce(external_id, 'pitboss-' || id::text) COLLATE "C")`)

      // balances and what they are made of are of one moment
      const readSnapshot = Effect.provideService(
        SqlClient.BeginTransaction,
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
      )

      /** Whether the actor has begun to export the operator's players within the hour: lines may be asked for from anywhere. */
      const isNoted = Effect.fnUntraced(function*({ label }: Actor, operatorId: number) {
        const now = clock.currentTimeMillisUnsafe()
        const found = yield* oneOf(notes(
          sql`SELECT EXISTS (SELECT FROM audit_log WHERE actor = ${label} AND at > ${toDate(now - hourMs)}
            AND action = 'import_run.export' AND operator_id = ${operatorId}) AS "isThere"`
        ))
        return found?.isThere === true
      })

      const read = Effect.fnUntraced(function*(operatorId: number, after: string) {
        const found = yield* players(
          sql`SELECT ${sql.literal(playerColumns)} FROM players
            WHERE operator_id = ${operatorId} AND ${order} > ${after} AND erased_at IS NULL ORDER BY ${order} LIMIT ${
            perPart + 1
          }`
        )
        const [inside, outside] = [found[perPart - 1], found[perPart]]
        // a name by the id may be one that another player brought from elsewhere: both are of one part, where the two are told apart
        const isCut = inside !== undefined && outside !== undefined && exportedId(inside) !== exportedId(outside)
        const given = isCut ? found.slice(0, perPart) : found
        const names = new Set(given.map(({ external_id }) => external_id))
        const rows = given.map((row) =>
          row.external_id === null && names.has(exportedId(row))
            ? { ...row, external_id: `${exportedId(row)}-${row.operator_id}` }
            : row
        )
        const ids = numbers(rows.map(({ id }) => id))
        const states = new Map((yield* statesOf(rows.map(({ id }) => id)).pipe(
          Effect.catchTag("SchemaError", () => Effect.fail(temporarilyUnavailable))
        )).map((state) => [state.id, state]))
        const facts = yield* factRows(
          sql`SELECT p.id, coalesce(i.lifetime_deposits, 0) + coalesce(r.deposits, 0)::bigint AS deposits,
              coalesce(i.lifetime_withdrawals, 0) + coalesce(r.withdrawals, 0)::bigint AS withdrawals,
              coalesce(r.held, 0)::bigint AS held, i.password_sealed AS "passwordSealed", p.consents
            FROM players p LEFT JOIN imported_players i ON i.player_id = p.id
            LEFT JOIN (SELECT player_id, sum(amount) FILTER (WHERE type = 'deposit' AND status = 'paid' AND NOT is_reversed) AS deposits,
                sum(amount) FILTER (WHERE type = 'withdrawal' AND status = 'paid') AS withdrawals,
                sum(amount) FILTER (WHERE type = 'withdrawal' AND status NOT IN ('paid', 'rejected', 'cancelled')) AS held
              FROM payment_requests WHERE player_id = ANY (${ids}::float8[]::bigint[]) GROUP BY player_id) r ON r.player_id = p.id
            WHERE p.operator_id = ${operatorId} AND p.id = ANY (${ids}::float8[]::bigint[])`
        )
        const open = yield* withdrawalRows(
          sql`SELECT id, player_id AS "playerId", amount, payment_method AS "paymentMethod",
              external_reference AS "externalReference", created_at AS "createdAt"
            FROM payment_requests
            WHERE operator_id = ${operatorId} AND player_id = ANY (${ids}::float8[]::bigint[]) AND type = 'withdrawal'
              AND status NOT IN ('paid', 'rejected', 'cancelled')
            ORDER BY created_at, external_reference COLLATE "C", id`
        )
        const passwords = yield* Effect.forEach(facts, ({ id, passwordSealed }) =>
          passwordSealed === null
            ? Effect.succeed(null)
            : Effect.orElseSucceed(secrets.openText(passwordPurpose(id), passwordSealed), () => null))
        const factsById = new Map(
          facts.map((fact, index) => [fact.id, { ...fact, password: passwords[index] ?? null }])
        )
        const openById = Map.groupBy(open, ({ playerId }) => playerId)
        const linesOf = (row: PlayerRow): LinePart["lines"] => {
          const state = states.get(row.id)
          const fact = factsById.get(row.id)
          if (state === undefined || fact === undefined) return []
          return [
            lineOf(state, row, {
              lifetimeDeposits: fact.deposits,
              lifetimeWithdrawals: fact.withdrawals,
              unverifiedWithdrawn: state.withdrawn - fact.held,
              passwordHash: fact.password,
              consents: fact.consents
            }),
            ...(openById.get(row.id) ?? []).map((payment) => ({
              kind: openWithdrawal,
              external_id: exportedId(row),
              amount: payment.amount,
              payment_method: payment.paymentMethod,
              external_reference: payment.externalReference ?? `pitboss-${payment.id}`,
              created_at: iso(payment.createdAt)
            }))
          ]
        }
        const last = given.at(-1)
        return {
          lines: rows.flatMap(linesOf),
          next: last === undefined || outside === undefined ? null : exportedId(last)
        }
      })

      return Exports.of({
        part: Effect.fn("Exports.part")(function*(actor, operator, after) {
          const operatorId = yield* references.operatorId(operator)
          if (after === undefined || !(yield* isNoted(actor, operatorId))) {
            yield* auditLog.change(actor, ({ record }) =>
              record({
                action: "import_run.export",
                operatorId,
                subject: `operator:${operatorId}`,
                before: null,
                after: null
              }))
          }
          return yield* readSnapshot(inTransaction(sql)(read(operatorId, after ?? "")))
        }, orTryAgain)
      })
    })
  )
}
