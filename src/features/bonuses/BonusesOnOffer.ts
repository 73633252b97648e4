/** The bonuses that operators offer and the promo codes that grant them, as staff keep them. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type BonusType, bonusTypes } from "../../domain/bonus/Bonus.ts"
import { isAmount } from "../../domain/Money.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { iso, parseIso, toDate } from "../../platform/Time.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { changed } from "../../platform/Changed.ts"
import { makeReferences, orTaken } from "../operators/References.ts"
import type { Actor } from "../staff/Staff.ts"

/** Amounts are minor units of the operator's currency; 0 in a cap means that there is none. */
export interface BonusUpdate {
  readonly name?: string
  readonly description?: string
  readonly type?: BonusType
  readonly default_amount?: number
  readonly wagering_multiplier?: number
  readonly valid_days?: number
  readonly max_bet?: number
  readonly max_conversion_multiplier?: number
  readonly max_grants_per_player?: number
  /** Percent of a stake that counts, by game id. */
  readonly contributions?: { readonly [gameId: string]: number }
  readonly active?: boolean
}

export type BonusInput = BonusUpdate & {
  /** Id or slug. */
  readonly operator: string
  readonly name: string
  readonly type: BonusType
  readonly default_amount: number
}

export interface PromoInput {
  /** Id or slug. */
  readonly operator: string
  readonly code: string
  /** Id of the operator's bonus. */
  readonly bonus: number
  /** Null: never. */
  readonly expires_at?: string | null
  /** Null: as often as there are players. A code for a bonus without wagering needs a number. */
  readonly max_redemptions?: number | null
}

const BonusRow = Schema.Struct({
  id: Schema.Number,
  operator_id: Schema.Number,
  name: Schema.String,
  description: Schema.String,
  type: Schema.Literals(bonusTypes),
  default_amount: Schema.Number,
  wagering_multiplier: Schema.Number,
  valid_days: Schema.Number,
  max_bet: Schema.Number,
  max_conversion_multiplier: Schema.Number,
  max_grants_per_player: Schema.Number,
  contributions: Schema.Record(Schema.String, Schema.Number),
  active: Schema.Boolean,
  created_at: Schema.Date,
  updated_at: Schema.Date
})

const PromoRow = Schema.Struct({
  id: Schema.Number,
  operator_id: Schema.Number,
  code: Schema.String,
  bonus_id: Schema.Number,
  expires_at: Schema.NullOr(Schema.Date),
  max_redemptions: Schema.NullOr(Schema.Number),
  redemptions: Schema.Number,
  active: Schema.Boolean,
  created_at: Schema.Date
})

const toBonusFields = ({ active, created_at, updated_at, ...row }: typeof BonusRow.Type) => ({
  ...row,
  is_active: active,
  created_at: iso(created_at.getTime()),
  updated_at: iso(updated_at.getTime())
})

const toPromoFields = (row: typeof PromoRow.Type) => ({
  ...row,
  expires_at: row.expires_at === null ? null : iso(row.expires_at.getTime()),
  created_at: iso(row.created_at.getTime())
})

/** A bonus as it is shown to staff. */
export type StaffBonusFields = ReturnType<typeof toBonusFields>

/** A promo code as it is shown to staff. */
export type PromoFields = ReturnType<typeof toPromoFields>

const bonusRows = rowsOf(BonusRow)
const promoRows = rowsOf(PromoRow)
const gameRows = rowsOf(Schema.Struct({ id: Schema.Number }))

const noSuchBonus = refuse("NOT_FOUND", "There is no such bonus.")
const noSuchPromo = refuse("NOT_FOUND", "There is no such promo code.")

const codeTaken = orTaken({ promo_codes_code: "code" })

/** What is wrong with the terms of a bonus taken together. */
const termMessages = (bonus: StaffBonusFields): { readonly [field: string]: ReadonlyArray<string> } => ({
  ...(bonus.type === "cash" && bonus.wagering_multiplier > 0
    ? { wagering_multiplier: ["must be 0 for a cash bonus"] }
    : {}),
  ...(isAmount(bonus.default_amount * bonus.wagering_multiplier)
    ? {}
    : { wagering_multiplier: ["makes more to wager than can be counted"] }),
  ...(isAmount(bonus.default_amount * bonus.max_conversion_multiplier)
    ? {}
    : { max_conversion_multiplier: ["makes more to convert than can be counted"] })
})

/** A code without an end, for a bonus without wagering, gives away any amount of cash. */
const isUnbounded = (bonus: Pick<StaffBonusFields, "wagering_multiplier">, maxRedemptions: number | null): boolean =>
  bonus.wagering_multiplier === 0 && maxRedemptions === null

const unbounded = refuseFields({ max_redemptions: ["is required for a bonus without wagering"] })

type Unavailable = Refusal<"TRY_AGAIN">

export class BonusesOnOffer extends Context.Service<BonusesOnOffer, {
  /** Adds a bonus. Without more it runs 30 days, has to be wagered 30 times (`cash`: not at all), is granted to a player
   * once, and has no other caps. */
  readonly create: (
    actor: Actor,
    input: BonusInput
  ) => Effect.Effect<StaffBonusFields, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** Changes a bonus for grants from now on; granted ones keep their terms. */
  readonly update: (
    actor: Actor,
    bonusId: number,
    input: BonusUpdate
  ) => Effect.Effect<StaffBonusFields, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** The bonuses of one operator or, with undefined, all, offered or not. */
  readonly list: (
    operator: string | undefined
  ) => Effect.Effect<ReadonlyArray<StaffBonusFields>, Refusal<"NOT_FOUND"> | Unavailable>
  /** Adds a promo code. Of a bonus without wagering it can be redeemed a number of times that is named. */
  readonly createPromo: (
    actor: Actor,
    input: PromoInput
  ) => Effect.Effect<PromoFields, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** Switches a promo code off or on. */
  readonly updatePromo: (
    actor: Actor,
    promoCodeId: number,
    input: { readonly active: boolean }
  ) => Effect.Effect<PromoFields, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** The promo codes of one operator or, with undefined, all. */
  readonly listPromos: (
    operator: string | undefined
  ) => Effect.Effect<ReadonlyArray<PromoFields>, Refusal<"NOT_FOUND"> | Unavailable>
}>()("pitboss/backoffice/BonusesOnOffer") {
  static readonly layer = Layer.effect(
    BonusesOnOffer,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const references = yield* makeReferences
      const bonusColumns = sql.literal(`id, operator_id, name, description, type,
        default_amount, wagering_multiplier,
        valid_days, max_bet,
        max_conversion_multiplier,
        max_grants_per_player, contributions, active, created_at, updated_at`)
      const promoColumns = sql.literal(`id, operator_id, code,
        bonus_id, expires_at, max_redemptions,
        redemptions, active, created_at`)

      const refuseTerms = Effect.fnUntraced(function*(bonus: StaffBonusFields) {
        const named = Object.keys(bonus.contributions).map(Number)
        const found = named.length === 0
          ? []
          : yield* gameRows(sql`SELECT id FROM games WHERE ${sql.in("id", named)}`)
        const known = new Set(found.map(({ id }) => id))
        const unknown = named.filter((id) => !known.has(id))
        const fields = {
          ...termMessages(bonus),
          ...Object.fromEntries(unknown.map((id) => [`contributions.${id}`, ["is no game"]]))
        }
        if (Object.keys(fields).length > 0) return yield* Effect.fail(refuseFields(fields))
      })

      /** Under the lock on the bonus, which a new code and one that is switched on share. */
      const refuseUnboundedCodes = Effect.fnUntraced(function*(bonusId: number) {
        const [code] = yield* promoRows(
          sql`SELECT ${promoColumns} FROM promo_codes WHERE bonus_id = ${bonusId} AND active AND max_redemptions IS NULL
            LIMIT 1`
        )
        if (code !== undefined) {
          const message = `must not be 0 while a promo code without max_redemptions grants it, like ${code.code}`
          return yield* Effect.fail(refuseFields({ wagering_multiplier: [message] }))
        }
      })

      const create = Effect.fn("BonusesOnOffer.create")((actor: Actor, input: BonusInput) =>
        auditLog.change(actor, ({ newId, now, record }) =>
          Effect.gen(function*() {
            const operatorId = yield* references.operatorId(input.operator)
            const fields: StaffBonusFields = {
              id: newId,
              operator_id: operatorId,
              name: input.name,
              description: input.description ?? "",
              type: input.type,
              default_amount: input.default_amount,
              wagering_multiplier: input.wagering_multiplier ?? (input.type === "cash" ? 0 : 30),
              valid_days: input.valid_days ?? 30,
              max_bet: input.max_bet ?? 0,
              max_conversion_multiplier: input.max_conversion_multiplier ?? 0,
              max_grants_per_player: input.max_grants_per_player ?? 1,
              contributions: input.contributions ?? {},
              is_active: input.active ?? true,
              created_at: iso(now),
              updated_at: iso(now)
            }
            yield* refuseTerms(fields)
            yield* sql`INSERT INTO bonuses (id, operator_id, name, description, type, default_amount, wagering_multiplier,
                valid_days, max_bet, max_conversion_multiplier, max_grants_per_player, contributions, active, created_at,
                updated_at)
              VALUES (${fields.id}, ${fields.operator_id}, ${fields.name}, ${fields.description}, ${fields.type},
                ${fields.default_amount}, ${fields.wagering_multiplier}, ${fields.valid_days}, ${fields.max_bet},
                ${fields.max_conversion_multiplier}, ${fields.max_grants_per_player},
                ${JSON.stringify(fields.contributions)}, ${fields.is_active}, ${toDate(now)}, ${toDate(now)})`
            yield* record({
              action: "bonus.create",
              operatorId,
              subject: `bonus:${newId}`,
              before: null,
              after: fields
            })
            return fields
          }))
      )

      const update = Effect.fn("BonusesOnOffer.update")((actor: Actor, bonusId: number, input: BonusUpdate) =>
        auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const row = yield* oneOf(
              bonusRows(sql`SELECT ${bonusColumns} FROM bonuses WHERE id = ${bonusId} FOR UPDATE`)
            )
            if (row === undefined) return yield* Effect.fail(noSuchBonus)
            const before = toBonusFields(row)
            const { active, ...terms } = input
            const update: Partial<StaffBonusFields> = active === undefined ? terms : { ...terms, is_active: active }
            const merged = changed<StaffBonusFields, Partial<StaffBonusFields>>(before, update)
            if (merged === before) return before
            const after = { ...merged, updated_at: iso(now) }
            yield* refuseTerms(after)
            if (before.wagering_multiplier > 0 && after.wagering_multiplier === 0) yield* refuseUnboundedCodes(bonusId)
            yield* sql`UPDATE bonuses SET name = ${after.name}, description = ${after.description}, type = ${after.type},
                default_amount = ${after.default_amount}, wagering_multiplier = ${after.wagering_multiplier},
                valid_days = ${after.valid_days}, max_bet = ${after.max_bet},
                max_conversion_multiplier = ${after.max_conversion_multiplier},
                max_grants_per_player = ${after.max_grants_per_player},
                contributions = ${JSON.stringify(after.contributions)}, active = ${after.is_active},
                updated_at = ${toDate(now)}
              WHERE id = ${bonusId}`
            yield* record({
              action: "bonus.update",
              operatorId: after.operator_id,
              subject: `bonus:${bonusId}`,
              before,
              after
            })
            return after
          }))
      )

      const list = Effect.fn("BonusesOnOffer.list")(function*(operator: string | undefined) {
        const operatorId = operator === undefined ? undefined : yield* references.operatorId(operator)
        const found = yield* bonusRows(
          sql`SELECT ${bonusColumns} FROM bonuses
            WHERE ${operatorId === undefined ? sql`true` : sql`operator_id = ${operatorId}`} ORDER BY operator_id, id`
        )
        return found.map(toBonusFields)
      }, orTryAgain)

      const createPromo = Effect.fn("BonusesOnOffer.createPromo")((actor: Actor, input: PromoInput) =>
        auditLog.change(actor, ({ newId, now, record }) =>
          Effect.gen(function*() {
            const operatorId = yield* references.operatorId(input.operator)
            const bonus = yield* oneOf(bonusRows(
              sql`SELECT ${bonusColumns} FROM bonuses WHERE id = ${input.bonus} AND operator_id = ${operatorId} FOR SHARE`
            ))
            if (bonus === undefined) {
              return yield* Effect.fail(refuseFields({ bonus: ["is no bonus of this operator"] }))
            }
            if (isUnbounded(bonus, input.max_redemptions ?? null)) return yield* Effect.fail(unbounded)
            const sent = input.expires_at ?? null
            const expiresAt = sent === null ? undefined : parseIso(sent)
            const fields: PromoFields = {
              id: newId,
              operator_id: operatorId,
              code: input.code,
              bonus_id: bonus.id,
              expires_at: expiresAt === undefined ? null : iso(expiresAt),
              max_redemptions: input.max_redemptions ?? null,
              redemptions: 0,
              active: true,
              created_at: iso(now)
            }
            yield* sql`INSERT INTO promo_codes (id, operator_id, code, bonus_id, expires_at, max_redemptions, created_at)
              VALUES (${fields.id}, ${fields.operator_id}, ${fields.code}, ${fields.bonus_id}, ${fields.expires_at},
                ${fields.max_redemptions}, ${toDate(now)})`
            yield* record({
              action: "promo.create",
              operatorId,
              subject: `promo_code:${newId}`,
              before: null,
              after: fields
            })
            return fields
          }).pipe(codeTaken))
      )

      const updatePromo = Effect.fn("BonusesOnOffer.updatePromo")(
        (actor: Actor, promoCodeId: number, { active }: { readonly active: boolean }) =>
          auditLog.change(actor, ({ record }) =>
            Effect.gen(function*() {
              const row = yield* oneOf(promoRows(
                sql`SELECT ${promoColumns} FROM promo_codes WHERE id = ${promoCodeId} FOR UPDATE`
              ))
              if (row === undefined) return yield* Effect.fail(noSuchPromo)
              const before = toPromoFields(row)
              if (before.active === active) return before
              const bonus = yield* oneOf(
                bonusRows(sql`SELECT ${bonusColumns} FROM bonuses WHERE id = ${before.bonus_id} FOR SHARE`)
              )
              if (active && bonus !== undefined && isUnbounded(bonus, before.max_redemptions)) {
                return yield* Effect.fail(unbounded)
              }
              const after = { ...before, active }
              yield* sql`UPDATE promo_codes SET active = ${active} WHERE id = ${promoCodeId}`
              yield* record({
                action: "promo.update",
                operatorId: after.operator_id,
                subject: `promo_code:${promoCodeId}`,
                before,
                after
              })
              return after
            }))
      )

      const listPromos = Effect.fn("BonusesOnOffer.listPromos")(function*(operator: string | undefined) {
        const operatorId = operator === undefined ? undefined : yield* references.operatorId(operator)
        const found = yield* promoRows(
          sql`SELECT ${promoColumns} FROM promo_codes
            WHERE ${operatorId === undefined ? sql`true` : sql`operator_id = ${operatorId}`} ORDER BY operator_id, id`
        )
        return found.map(toPromoFields)
      }, orTryAgain)

      return BonusesOnOffer.of({ create, update, list, createPromo, updatePromo, listPromos })
    })
  )
}
