/** A catalogue bonus as staff see it: its terms in words, its grants and its outstanding liability. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { BonusState } from "../../domain/state/Bonus.ts"
import { describeBonusTerms, formatAmount, tellGrantedBonus } from "../../domain/bonus/BonusTermsText.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { minorDigits } from "../../domain/Standards.ts"
import { iso } from "../../platform/Time.ts"
import { type OwnedBonus, playerBonusColumns, PlayerBonusRow, toOwnedBonus } from "../../store/BonusRows.ts"
import { mapPart, type Part, type PartQuery } from "../../store/Cursors.ts"
import { newestFirst, unscopedListOf } from "../../store/Lists.ts"
import { recordsOf } from "../../store/Records.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { makeGameNames } from "../games/GameNames.ts"
import { liabilitiesOf } from "./Liabilities.ts"
import { type ShownBonus, StaffBonus } from "../../contract/bonuses/StaffApi.ts"

const grantRows = rowsOf(PlayerBonusRow)
const currencyRows = rowsOf(Schema.Struct({ currency: Schema.String }))
const liabilityRows = rowsOf(
  Schema.Struct({
    currency: Schema.String,
    running: Schema.Number,
    amount: Schema.Number,
    at: Schema.NullOr(Schema.Date)
  })
)

/** Absent means any state. */
export interface GrantQuery extends PartQuery {
  readonly state?: BonusState | undefined
}

const moment = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" })

/** An instant as players are told it. */
const momentText = (at: number): string => `${moment.format(at)} UTC`

/** Amounts of a currency as text. */
const amountsIn = (currency: string) => (amount: number): string =>
  formatAmount(amount, currency, minorDigits(currency))

const notFound = refuse("NOT_FOUND", "There is no such bonus.")

type Refused = Refusal<"NOT_FOUND" | "TRY_AGAIN">

export class BonusGrants extends Context.Service<BonusGrants, {
  /** A bonus with its terms in words, and the bonus funds of grants that run or wait, by the players' currency (minor units). */
  readonly show: (bonusId: number) => Effect.Effect<typeof ShownBonus.Type, Refused>
  /** A grant, with the sentences that its player is told. */
  readonly granted: (
    playerBonusId: number
  ) => Effect.Effect<OwnedBonus & { readonly sentences: ReadonlyArray<string> }, Refused>
  /** Grants of a bonus, newest first. */
  readonly walk: (
    bonusId: number,
    query: GrantQuery
  ) => Effect.Effect<Part<OwnedBonus>, Refusal<"VALIDATION_FAILED"> | Refused>
}>()("pitboss/bonuses/BonusGrants") {
  static readonly layer = Layer.effect(
    BonusGrants,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const bonuses = yield* recordsOf("bonuses", StaffBonus, { columns: { is_active: "active" } })
      const columns = sql.literal(playerBonusColumns)
      const gameNames = yield* makeGameNames

      const find = Effect.fnUntraced(function*(bonusId: number) {
        const bonus = yield* bonuses.find(sql`id = ${bonusId}::float8::bigint`)
        return bonus === undefined ? yield* Effect.fail(notFound) : bonus
      })

      /** Names of the games that contributions name. */
      const namesOf = ({ contributions }: { readonly contributions: { readonly [game: string]: number } }) =>
        Effect.map(
          gameNames(Object.keys(contributions).map(Number)),
          (names) => (game: string) => names.get(Number(game)) ?? `game ${game}`
        )

      const granted = Effect.fn("BonusGrants.granted")(function*(playerBonusId: number) {
        const row = yield* oneOf(grantRows(
          sql`SELECT ${columns} FROM player_bonuses b JOIN players p ON p.id = b.player_id
            WHERE b.id = ${playerBonusId}::float8::bigint`
        ))
        if (row === undefined) return yield* Effect.fail(notFound)
        const owned = toOwnedBonus(row)
        const nameOf = yield* namesOf(owned.bonus)
        return {
          ...owned,
          sentences: tellGrantedBonus(owned.bonus, { money: amountsIn(owned.currency), date: momentText, nameOf })
        }
      }, orTryAgain)

      const show = Effect.fn("BonusGrants.show")(function*(bonusId: number) {
        const bonus = yield* find(bonusId)
        const operator = yield* oneOf(currencyRows(sql`SELECT currency FROM operators WHERE id = ${bonus.operator_id}`))
        const currency = operator?.currency ?? ""
        const nameOf = yield* namesOf(bonus)
        const liability = yield* liabilityRows(
          sql`SELECT currency, coalesce(running, 0)::float8 AS running, coalesce(amount, 0)::float8 AS amount, at
            FROM ${liabilitiesOf(sql, yield* Clock.currentTimeMillis, bonus.operator_id, bonusId)} l
            WHERE NOT is_test ORDER BY currency`
        )
        const held = liability.flatMap(({ at, ...row }) => at === null ? [] : [{ ...row, at: iso(at.getTime()) }])
        return {
          ...bonus,
          currency,
          terms: describeBonusTerms(bonus, amountsIn(currency), nameOf),
          liability: held.length < liability.length ? null : held
        }
      }, orTryAgain)

      const grants = unscopedListOf<
        typeof PlayerBonusRow.Type,
        { readonly bonusId: number; readonly state?: BonusState | undefined },
        "newest"
      >(sql, {
        record: "bonusId",
        read: (where, end) =>
          grantRows(
            sql`SELECT ${columns} FROM player_bonuses b JOIN players p ON p.id = b.player_id WHERE ${where} ${end}`
          ),
        filters: {
          bonusId: (value) => sql`b.bonus_id = ${value}::float8::bigint`,
          state: (value) => sql`b.state = ${value}`
        },
        orders: { newest: newestFirst("b.created_at", "b.id", ({ createdAt }) => createdAt) }
      })

      const walk = Effect.fn("BonusGrants.walk")(function*(bonusId: number, query: GrantQuery) {
        yield* find(bonusId)
        return mapPart(yield* grants.part(null, { bonusId, ...query }, "newest"), toOwnedBonus)
      }, orTryAgain)

      return BonusGrants.of({ granted, show, walk })
    })
  )
}
