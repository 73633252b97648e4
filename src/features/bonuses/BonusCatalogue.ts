/** Staff management of an operator's bonus catalogue and promo codes. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isAmount } from "../../domain/Money.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { iso, parseIso } from "../../platform/Time.ts"
import { recordsOf } from "../../store/Records.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { applyUpdate } from "../../platform/ApplyUpdate.ts"
import { makeReferences, orTaken } from "../../office/References.ts"
import type { Actor } from "../../office/Actor.ts"
import {
  type BonusInput,
  type BonusUpdate,
  Promo,
  type PromoInput,
  StaffBonus
} from "../../contract/bonuses/StaffApi.ts"

type StaffBonus = typeof StaffBonus.Type
type Promo = typeof Promo.Type

const gameRows = rowsOf(Schema.Struct({ id: Schema.Number }))

const noSuchBonus = refuse("NOT_FOUND", "There is no such bonus.")
const noSuchPromo = refuse("NOT_FOUND", "There is no such promo code.")

const codeTaken = orTaken({ promo_codes_code: "code" })

/** Validation errors of bonus terms that contradict each other. */
const termMessages = (bonus: StaffBonus): { readonly [field: string]: ReadonlyArray<string> } => ({
  ...(bonus.type === "cash" && bonus.wagering_multiplier > 0
    ? { wagering_multiplier: ["must be 0 for a cash bonus"] }
    : {}),
  ...(isAmount(bonus.default_amount * bonus.wagering_multiplier)
    ? {}
    : { wagering_multiplier: ["makes the wagering requirement larger than the largest possible amount"] }),
  ...(isAmount(bonus.default_amount * bonus.max_conversion_multiplier)
    ? {}
    : { max_conversion_multiplier: ["makes the largest conversion larger than the largest possible amount"] })
})

/** A code without an end, for a bonus without wagering, gives away any amount of cash. */
const isUnbounded = (bonus: Pick<StaffBonus, "wagering_multiplier">, maxRedemptions: number | null): boolean =>
  bonus.wagering_multiplier === 0 && maxRedemptions === null

const unbounded = refuseFields({ max_redemptions: ["is required for a bonus without wagering"] })

type Unavailable = Refusal<"TRY_AGAIN">

export class BonusCatalogue extends Context.Service<BonusCatalogue, {
  /** Adds a bonus. Without more it runs 30 days, has to be wagered 30 times (`cash`: not at all), is granted to a player
   * once, and has no other caps. */
  readonly create: (
    actor: Actor,
    input: BonusInput
  ) => Effect.Effect<StaffBonus, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** Changes a bonus for grants from now on; granted ones keep their terms. */
  readonly update: (
    actor: Actor,
    bonusId: number,
    input: BonusUpdate
  ) => Effect.Effect<StaffBonus, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** The bonuses of one operator or, with undefined, all that the actor may see, offered or not. */
  readonly list: (
    actor: Actor,
    operator: string | undefined
  ) => Effect.Effect<ReadonlyArray<StaffBonus>, Refusal<"NOT_FOUND"> | Unavailable>
  /** Adds a promo code. Of a bonus without wagering it can be redeemed a number of times that is named. */
  readonly createPromo: (
    actor: Actor,
    input: PromoInput
  ) => Effect.Effect<Promo, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** Switches a promo code off or on. */
  readonly updatePromo: (
    actor: Actor,
    promoCodeId: number,
    input: { readonly active: boolean }
  ) => Effect.Effect<Promo, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** The promo codes of one operator or, with undefined, all that the actor may see. */
  readonly listPromos: (
    actor: Actor,
    operator: string | undefined
  ) => Effect.Effect<ReadonlyArray<Promo>, Refusal<"NOT_FOUND"> | Unavailable>
}>()("pitboss/bonuses/BonusCatalogue") {
  static readonly layer = Layer.effect(
    BonusCatalogue,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const references = yield* makeReferences
      const bonuses = yield* recordsOf("bonuses", StaffBonus, { columns: { is_active: "active" } })
      const promos = yield* recordsOf("promo_codes", Promo)

      const refuseTerms = Effect.fnUntraced(function*(bonus: StaffBonus) {
        const named = Object.keys(bonus.contributions).map(Number)
        const found = named.length === 0
          ? []
          : yield* gameRows(sql`SELECT id FROM games WHERE ${sql.in("id", named)}`)
        const known = new Set(found.map(({ id }) => id))
        const unknown = named.filter((id) => !known.has(id))
        const fields = {
          ...termMessages(bonus),
          ...Object.fromEntries(unknown.map((id) => [`contributions.${id}`, ["is not the id of a game"]]))
        }
        if (Object.keys(fields).length > 0) return yield* Effect.fail(refuseFields(fields))
      })

      /** Under the lock on the bonus, which a new code and one that is switched on share. */
      const refuseUnboundedCodes = Effect.fnUntraced(function*(bonusId: number) {
        const code = yield* promos.find(
          sql`bonus_id = ${bonusId} AND active AND max_redemptions IS NULL LIMIT 1`
        )
        if (code !== undefined) {
          const message = `must not be 0 while a promo code without max_redemptions grants it, like ${code.code}`
          return yield* Effect.fail(refuseFields({ wagering_multiplier: [message] }))
        }
      })

      const create = Effect.fn("BonusCatalogue.create")((actor: Actor, input: BonusInput) =>
        auditLog.change(actor, ({ newId, now, recordChange }) =>
          Effect.gen(function*() {
            const { active = true, operator, ...terms } = input
            const bonus: StaffBonus = {
              id: newId,
              operator_id: yield* references.operatorId(operator),
              description: "",
              wagering_multiplier: input.type === "cash" ? 0 : 30,
              valid_days: 30,
              max_bet: 0,
              max_conversion_multiplier: 0,
              max_grants_per_player: 1,
              contributions: {},
              ...terms,
              is_active: active,
              created_at: iso(now),
              updated_at: iso(now)
            }
            yield* refuseTerms(bonus)
            yield* bonuses.insert(bonus)
            return yield* recordChange("bonus.create", null, bonus)
          }))
      )

      const update = Effect.fn("BonusCatalogue.update")((actor: Actor, bonusId: number, input: BonusUpdate) =>
        auditLog.change(actor, ({ now, recordChange }) =>
          Effect.gen(function*() {
            const before = yield* bonuses.find(sql`id = ${bonusId} FOR UPDATE`)
            if (before === undefined) return yield* Effect.fail(noSuchBonus)
            const { active = before.is_active, ...terms } = input
            const merged = applyUpdate<StaffBonus, Partial<StaffBonus>>(before, { ...terms, is_active: active })
            if (merged === before) return before
            const after = { ...merged, updated_at: iso(now) }
            yield* refuseTerms(after)
            if (before.wagering_multiplier > 0 && after.wagering_multiplier === 0) yield* refuseUnboundedCodes(bonusId)
            yield* bonuses.update(before, after)
            return yield* recordChange("bonus.update", before, after)
          }))
      )

      const list = Effect.fn("BonusCatalogue.list")(function*(actor: Actor, operator: string | undefined) {
        return yield* bonuses.all(sql`${yield* references.ofScope(actor, operator)} ORDER BY operator_id, id`)
      }, orTryAgain)

      const createPromo = Effect.fn("BonusCatalogue.createPromo")((actor: Actor, input: PromoInput) =>
        auditLog.change(actor, ({ newId, now, record }) =>
          Effect.gen(function*() {
            const operatorId = yield* references.operatorId(input.operator)
            const bonus = yield* bonuses.find(sql`id = ${input.bonus} AND operator_id = ${operatorId} FOR SHARE`)
            if (bonus === undefined) {
              return yield* Effect.fail(refuseFields({ bonus: ["is not a bonus of this operator"] }))
            }
            if (isUnbounded(bonus, input.max_redemptions ?? null)) return yield* Effect.fail(unbounded)
            const expiresAt = parseIso(input.expires_at ?? "")
            const after: Promo = {
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
            yield* promos.insert(after)
            yield* record({ action: "promo.create", operatorId, subject: `promo_code:${newId}`, before: null, after })
            return after
          }).pipe(codeTaken))
      )

      const updatePromo = Effect.fn("BonusCatalogue.updatePromo")(
        (actor: Actor, promoCodeId: number, { active }: { readonly active: boolean }) =>
          auditLog.change(actor, ({ record }) =>
            Effect.gen(function*() {
              const before = yield* promos.find(sql`id = ${promoCodeId} FOR UPDATE`)
              if (before === undefined) return yield* Effect.fail(noSuchPromo)
              if (before.active === active) return before
              const bonus = yield* bonuses.find(sql`id = ${before.bonus_id} FOR SHARE`)
              if (active && bonus !== undefined && isUnbounded(bonus, before.max_redemptions)) {
                return yield* Effect.fail(unbounded)
              }
              const after = { ...before, active }
              yield* promos.update(before, after)
              const { operator_id: operatorId } = after
              yield* record({ action: "promo.update", operatorId, subject: `promo_code:${promoCodeId}`, before, after })
              return after
            }))
      )

      const listPromos = Effect.fn("BonusCatalogue.listPromos")(function*(actor: Actor, operator: string | undefined) {
        return yield* promos.all(sql`${yield* references.ofScope(actor, operator)} ORDER BY operator_id, id`)
      }, orTryAgain)

      return BonusCatalogue.of({ create, update, list, createPromo, updatePromo, listPromos })
    })
  )
}
