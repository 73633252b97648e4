/** SQL access to bonuses: the catalogue, grants to players, promo codes. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { BonusState } from "../../domain/state/Bonus.ts"
import { CatalogueBonus } from "../../domain/bonus/BonusGrants.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { type Period, toDate } from "../../platform/Time.ts"
import {
  catalogueColumns,
  type OwnedBonus,
  playerBonusColumns,
  PlayerBonusRow,
  toOwnedBonus
} from "../../store/BonusRows.ts"
import { mapPart, type Part, type PartQuery } from "../../store/Cursors.ts"
import { lastFirst, listOf, periodFilters } from "../../store/Lists.ts"
import { ofClock } from "../../store/OperatorClocks.ts"
import { oneOf, orTryAgain, type Page, type PageQuery, rowsOf } from "../../store/Rows.ts"
import { makeSamePersons } from "../../store/SamePersons.ts"

/** Absent means any. */
export interface BonusFilters {
  readonly state?: BonusState | undefined
}

export interface BonusQuery extends BonusFilters, PageQuery {}

const catalogueRows = rowsOf(CatalogueBonus)
const playerBonusRows = rowsOf(PlayerBonusRow)
const counts = rowsOf(Schema.Struct({ total: Schema.Number }))
const grantedRows = rowsOf(Schema.Struct({ isGranted: Schema.Boolean }))
const owners = rowsOf(Schema.Struct({ playerId: Schema.Number }))
const PromoRow = Schema.Struct({
  promoCodeId: Schema.Number,
  code: Schema.String,
  isPromoActive: Schema.Boolean,
  expiresAt: Schema.NullOr(Schema.Date),
  isUsedUp: Schema.Boolean,
  isRedeemed: Schema.Boolean,
  ...CatalogueBonus.fields
})
const promoRows = rowsOf(PromoRow)

const registrationRows = rowsOf(
  Schema.Struct({ playerId: Schema.Number, operatorId: Schema.Number, code: Schema.String })
)

const thresholdRows = rowsOf(Schema.Struct({ base: Schema.String, secondApprovalAbove: Schema.NullOr(Schema.Number) }))

/** Players found in one search, at most. */
const maxDue = 500

/** How long a registration is left to its own request, and how long its promo code is worth trying. */
const registrationMs = 30_000
const registrationDueMs = 24 * 60 * 60_000

type Read<A> = Effect.Effect<A, Refusal<"TRY_AGAIN">>

export class BonusRepository extends Context.Service<BonusRepository, {
  /** Bonuses of an operator, oldest first. */
  readonly catalogue: (operatorId: number) => Read<ReadonlyArray<CatalogueBonus>>
  readonly find: (operatorId: number, bonusId: number) => Read<CatalogueBonus | undefined>
  /** The promo code, in any case of its letters, with its bonus and whether the player has redeemed it. */
  readonly findPromo: (
    operatorId: number,
    playerId: number,
    code: string
  ) => Read<typeof PromoRow.Type | undefined>
  /** From which amount on staff need a second person, in the operator's currency. */
  readonly approvalTerms: (operatorId: number) => Effect.Effect<
    { readonly base: string; readonly secondApprovalAbove: number | null } | undefined,
    SqlError.SqlError
  >
  /** Whether the person of a player has had any bonus at another operator of the licensee. */
  readonly hadElsewhere: (playerId: number) => Read<boolean>
  readonly ownerOf: (playerBonusId: number) => Read<{ readonly playerId: number } | undefined>
  readonly list: (operatorId: number, playerId: number, query: BonusQuery) => Read<Page<OwnedBonus>>
  readonly walk: (
    operatorId: number,
    playerId: number,
    query: BonusFilters & Period & PartQuery
  ) => Effect.Effect<Part<OwnedBonus>, Refusal<"VALIDATION_FAILED" | "TRY_AGAIN">>
  /** Players with a bonus that has expired or waits and may start. */
  readonly findDue: (now: number) => Effect.Effect<ReadonlyArray<{ readonly playerId: number }>, SqlError.SqlError>
  /** Promo codes of registrations that a stopped process left undone. */
  readonly findRegistrations: (now: number) => Effect.Effect<
    ReadonlyArray<{ readonly playerId: number; readonly operatorId: number; readonly code: string }>,
    SqlError.SqlError
  >
  /** The promo code of the player's registration is not tried again. */
  readonly endRegistration: (playerId: number) => Read<unknown>
}>()("pitboss/bonuses/BonusRepository") {
  static readonly layer = Layer.effect(
    BonusRepository,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const catalogueSql = sql.literal(catalogueColumns)
      const personOf = yield* makeSamePersons
      const playerBonusSql = sql.literal(playerBonusColumns)

      const listed = listOf<typeof PlayerBonusRow.Type, { readonly playerId: number } & BonusFilters & Period, "last">(
        sql,
        {
          read: (ofList, end) =>
            playerBonusRows(
              sql`SELECT ${playerBonusSql} FROM player_bonuses b JOIN players p ON p.id = b.player_id WHERE ${ofList} ${end}`
            ),
          operator: "b.operator_id",
          filters: {
            ...periodFilters(sql, "b.created_at"),
            playerId: (value) => sql`b.player_id = ${value}::float8::bigint`,
            state: (value) => sql`b.state = ${value}`
          },
          orders: { last: lastFirst("b.id") }
        }
      )

      return BonusRepository.of({
        catalogue: (operatorId) =>
          orTryAgain(catalogueRows(sql`SELECT ${catalogueSql} FROM bonuses b JOIN operators o ON o.id = b.operator_id
          WHERE b.operator_id = ${operatorId} AND b.active ORDER BY b.id`)),
        find: (operatorId, bonusId) =>
          orTryAgain(oneOf(catalogueRows(
            sql`SELECT ${catalogueSql} FROM bonuses b JOIN operators o ON o.id = b.operator_id
              WHERE b.id = ${bonusId} AND b.operator_id = ${operatorId}`
          ))),
        findPromo: (operatorId, playerId, code) =>
          orTryAgain(
            oneOf(
              promoRows(
                sql`SELECT c.id AS "promoCodeId", c.code, c.active AS "isPromoActive", c.expires_at AS "expiresAt",
                  c.max_redemptions IS NOT NULL AND c.redemptions >= c.max_redemptions AS "isUsedUp",
                  EXISTS (SELECT FROM promo_redemptions r WHERE r.promo_code_id = c.id AND r.player_id = ${playerId})
                    AS "isRedeemed", ${catalogueSql}
                FROM promo_codes c JOIN bonuses b ON b.id = c.bonus_id JOIN operators o ON o.id = b.operator_id
                WHERE c.operator_id = ${operatorId} AND lower(c.code) = lower(${code})`
              )
            )
          ),
        approvalTerms: (operatorId) =>
          oneOf(thresholdRows(
            sql`SELECT currency AS base, withdrawal_second_approval_above AS "secondApprovalAbove" FROM operators
              WHERE id = ${operatorId}`
          )),
        hadElsewhere: Effect.fn("BonusRepository.hadElsewhere")(function*(playerId) {
          const person = yield* personOf(playerId)
          if (person === undefined) return false
          for (const operatorId of person.operators) {
            const [found] = yield* grantedRows(
              sql`SELECT EXISTS (SELECT FROM ${person.facts}
                JOIN player_facts f ON f.operator_id = ${operatorId}::float8::bigint AND f.kind = u.kind AND f.digest = u.digest
                JOIN player_bonuses b ON b.player_id = f.player_id) AS "isGranted"`
            )
            if (found?.isGranted === true) return true
          }
          return false
        }, orTryAgain),
        ownerOf: (playerBonusId) =>
          orTryAgain(
            oneOf(owners(sql`SELECT player_id AS "playerId" FROM player_bonuses WHERE id = ${playerBonusId}`))
          ),
        list: Effect.fnUntraced(function*(operatorId, playerId, query) {
          const page = yield* listed.page([operatorId], { playerId, ...query }, "last", (ofList) =>
            Effect.map(
              counts(sql`SELECT count(*) AS total FROM player_bonuses b WHERE ${ofList}`),
              ([row]) => row?.total ?? 0
            ))
          return { ...page, items: page.items.map(toOwnedBonus) }
        }, orTryAgain),
        walk: (operatorId, playerId, query) =>
          listed.part([operatorId], { playerId, ...query }, "last").pipe(
            Effect.map((part) => mapPart(part, toOwnedBonus)),
            orTryAgain
          ),
        findDue: (now) =>
          Effect.flatMap(
            Effect.zip(ofClock(sql), ofClock(sql, "b.operator_id")),
            ([own, ofGrants]) =>
              owners(sql`(SELECT player_id AS "playerId" FROM player_bonuses
              WHERE state = 'activated' AND ${own} AND expires_at <= ${toDate(now)} ORDER BY expires_at LIMIT ${maxDue})
            UNION (SELECT player_id::float8 FROM player_bonuses
              WHERE state = 'activated' AND ${own} AND open_until <= ${toDate(now)} ORDER BY open_until LIMIT ${maxDue})
            UNION (SELECT player_id::float8 FROM player_bonuses
              WHERE state = 'pending' AND ${own} AND open_until <= ${
                toDate(now)
              } AND held_amount = 0 AND open_rounds <= 0
              ORDER BY open_until LIMIT ${maxDue})
            UNION (SELECT b.player_id::float8 FROM player_bonuses b JOIN players p ON p.id = b.player_id
              WHERE b.state = 'pending' AND ${ofGrants} AND p.status = 'active' AND NOT p.excluded_from_bonuses
                AND (p.exclusion_type IS NULL OR p.exclusion_over_at <= ${toDate(now)})
                AND NOT EXISTS (SELECT FROM player_bonuses a WHERE a.player_id = b.player_id AND a.state = 'activated')
              LIMIT ${maxDue})`)
          ),
        findRegistrations: (now) =>
          Effect.flatMap(ofClock(sql, "p.operator_id"), (own) =>
            registrationRows(
              sql`SELECT p.id AS "playerId", p.operator_id AS "operatorId", p.registration_promo_code AS code
            FROM players p JOIN operators o ON o.id = p.operator_id
            WHERE p.registration_promo_due AND ${own} AND p.created_at <= ${toDate(now - registrationMs)}
              AND p.created_at > ${toDate(now - registrationDueMs)}
              AND (o.cooperation_model = 'api' OR NOT 'bonuses' = ANY (o.disabled_features))
            ORDER BY p.created_at LIMIT ${maxDue}`
            )),
        endRegistration: (playerId) =>
          orTryAgain(sql`UPDATE players SET registration_promo_due = false WHERE id = ${playerId}`)
      })
    })
  )
}
