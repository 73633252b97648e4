/** Bonuses as operators and staff see and grant them (SPEC section 4.6). The rules are `src/domain/bonus/BonusGrants.ts`. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { BonusState } from "../../domain/bonus/Bonus.ts"
import {
  cancelBonusStep,
  type CatalogueBonus,
  type GrantRefusal,
  grantStep,
  promoRefusal,
  type RedeemedCode,
  type RedeemRefusal,
  redeemStep,
  tendBonusesStep
} from "../../domain/bonus/BonusGrants.ts"
import { thresholdIn } from "../../domain/bonus/Conversion.ts"
import type { Decision, Step } from "../../domain/Decision.ts"
import { takesTwo } from "../../domain/wallet/FourEyes.ts"
import type { IdempotencyClaim, RenderedReply } from "../../domain/Idempotency.ts"
import type { Player } from "../../domain/player/Player.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { storingReply } from "../../domain/StoringReply.ts"
import type { Spender } from "../payments/StaffFacts.ts"
import { type SpendingRefusal, StaffSpending } from "../payments/StaffSpending.ts"
import { Thresholds } from "../payments/Thresholds.ts"
import { toDate } from "../../platform/Time.ts"
import { makeFactorOf } from "../exchangeRates/ExchangeRates.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import {
  isStorable,
  offsetOf,
  oneOf,
  orTryAgain,
  type Page,
  type PageQuery,
  rowsOf,
  type Walk,
  walkOf,
  type WalkQuery
} from "../../store/Rows.ts"
import {
  catalogueColumns,
  CatalogueRow,
  type OwnedBonus,
  playerBonusColumns,
  PlayerBonusRow,
  toOwnedBonus
} from "../../store/BonusRows.ts"

export interface GrantRequest {
  /** Of the catalogue. */
  readonly bonusId: number
  /** Minor units of the player's currency; null grants the bonus's own amount. */
  readonly amount: number | null
  readonly note: string | null
}

/** Absent means any. */
export interface BonusFilters {
  readonly state?: BonusState | undefined
}

export interface BonusQuery extends BonusFilters, PageQuery {}

/** A code redeemed, with whose bonus it granted. */
export interface Redeemed extends Omit<RedeemedCode, "bonus"> {
  readonly owned: OwnedBonus
}

/** How an answer is stored under the caller's idempotency key, if it has one. */
interface Answering<in Reply> {
  readonly claim: IdempotencyClaim | undefined
  readonly render: (reply: Reply) => RenderedReply
}

const catalogueRows = rowsOf(CatalogueRow)
const playerBonusRows = rowsOf(PlayerBonusRow)
const counts = rowsOf(Schema.Struct({ total: Schema.Number }))
const owners = rowsOf(Schema.Struct({ playerId: Schema.Number }))
const promoRows = rowsOf(Schema.Struct({
  promoCodeId: Schema.Number,
  code: Schema.String,
  isPromoActive: Schema.Boolean,
  expiresAt: Schema.NullOr(Schema.Date),
  isUsedUp: Schema.Boolean,
  isRedeemed: Schema.Boolean,
  ...CatalogueRow.fields
}))

const dueRows = rowsOf(Schema.Struct({ playerId: Schema.Number, operatorId: Schema.Number, code: Schema.String }))

const thresholdRows = rowsOf(Schema.Struct({ base: Schema.String, secondApprovalAbove: Schema.NullOr(Schema.Number) }))
const cashTakesTwo = refuse(
  "BONUS_INVALID",
  "A bonus without wagering is money at once. This much takes two people: correct the balance instead, which somebody else approves.",
  { reason: "second_approver" }
)

const noSuchBonus = refuse("NOT_FOUND", "There is no such bonus.")

/** How many players the job tends at a time, and how many at once. */
const tendedMost = 500
const tendedAtOnce = 4

/** How long a registration is left to its own request, and how long its promo code is worth trying. */
const registrationMs = 30_000
const registrationDueMs = 24 * 60 * 60_000

export class Bonuses extends Context.Service<Bonuses, {
  /** What an operator offers, the oldest first. */
  readonly catalogue: (operatorId: number) => Effect.Effect<ReadonlyArray<CatalogueBonus>, Refusal<"TRY_AGAIN">>
  /** A page of a player's bonuses, newest first. */
  readonly list: (
    operatorId: number,
    playerId: number,
    query: BonusQuery
  ) => Effect.Effect<Page<OwnedBonus>, ActorRefusal>
  /** As `list`, from a bonus on: nothing is counted. Positions are ids. */
  readonly walk: (
    operatorId: number,
    playerId: number,
    query: BonusFilters & WalkQuery
  ) => Effect.Effect<Walk<OwnedBonus>, ActorRefusal>
  /**
   * Grants any player a bonus of the operator's catalogue, as staff, out of a daily budget. One without wagering is cash:
   * `mayNotGrantCash` answers whoever may not grant that; absent: the actor may.
   */
  readonly staffGrant: (
    playerId: number,
    request: GrantRequest,
    actor: Spender,
    mayNotGrantCash?: Refusal<"INSUFFICIENT_SCOPE">
  ) => Effect.Effect<OwnedBonus, GrantRefusal | SpendingRefusal | Refusal<"INSUFFICIENT_SCOPE"> | ActorRefusal>
  /** Grants a bonus of the catalogue. */
  readonly grant: (
    operatorId: number,
    playerId: number,
    request: GrantRequest,
    answering: Answering<OwnedBonus>
  ) => Effect.Effect<OwnedBonus, GrantRefusal | ActorRefusal>
  /** Redeems a promo code, in any case of its letters. */
  readonly redeem: (
    operatorId: number,
    playerId: number,
    code: string,
    answering?: Answering<Redeemed>
  ) => Effect.Effect<Redeemed, RedeemRefusal | ActorRefusal>
  /** Redeems the promo code of a registration, where it is one; never fails, since the player is registered anyway. */
  readonly redeemAtRegistration: (operatorId: number, playerId: number, code: string) => Effect.Effect<void>
  /** Ends a player's bonus, for staff; audited. */
  readonly cancel: (
    playerBonusId: number,
    reason: string | null,
    actor: string
  ) => Effect.Effect<OwnedBonus, GrantRefusal | ActorRefusal>
  /**
   * Ends what time has ended, activates what waits for it, and redeems codes that a stopped process left undone; gives for how
   * many players. Runs by itself every minute.
   */
  readonly tend: Effect.Effect<number, Refusal<"TRY_AGAIN">>
}>()("pitboss/bonuses/Bonuses") {
  static readonly layer = Layer.effect(
    Bonuses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const spending = yield* StaffSpending
      const thresholds = yield* Thresholds
      const catalogueSql = sql.literal(catalogueColumns)
      const playerBonusSql = sql.literal(playerBonusColumns)

      /** Runs a rule and says of its reply whose bonus it is. */
      const owning = <Reply, Owned, Error>(
        step: Step<Reply, Error>,
        own: (reply: Reply, player: Player) => Owned
      ): Step<Owned, Error> =>
      (player, context): Decision<Owned, Error> => {
        const decision = step(player, context)
        return decision._tag === "Accept" ? { ...decision, reply: own(decision.reply, player) } : decision
      }

      const catalogue = Effect.fn("Bonuses.catalogue")((operatorId: number) =>
        orTryAgain(catalogueRows(sql`SELECT ${catalogueSql} FROM bonuses b JOIN operators o ON o.id = b.operator_id
          WHERE b.operator_id = ${operatorId} AND b.active ORDER BY b.id`))
      )

      const factorOf = yield* makeFactorOf

      /** The largest stake of a bonus in a player's currency, at the rate that holds now: terms of a grant stay as they are. */
      const maxBetFor = Effect.fnUntraced(function*({ currency }: Player, bonus: CatalogueBonus) {
        if (bonus.maxBet === 0 || currency === bonus.currency) return bonus.maxBet
        const factor = yield* factorOf({ currency, base: bonus.currency })
        // 0 would mean that there is no cap
        return factor === undefined ? null : Math.max(1, thresholdIn(bonus.maxBet, factor) ?? 1)
      })

      const offered = Effect.fnUntraced(function*(operatorId: number, bonusId: number) {
        const bonus = yield* orTryAgain(oneOf(catalogueRows(
          sql`SELECT ${catalogueSql} FROM bonuses b JOIN operators o ON o.id = b.operator_id
            WHERE b.id = ${bonusId} AND b.operator_id = ${operatorId}`
        )))
        return bonus === undefined ? yield* Effect.fail(noSuchBonus) : bonus
      })

      /** The rule that grants a bonus. */
      const grantOf = Effect.fnUntraced(function*(
        player: Player,
        bonus: CatalogueBonus,
        { amount, note }: GrantRequest,
        grantedBy?: string
      ) {
        const maxBet = yield* maxBetFor(player, bonus)
        return owning(
          grantStep({ bonus, amount, note, maxBet, ...(grantedBy === undefined ? {} : { grantedBy }) }),
          (granted, { currency, id }) => ({ playerId: id, currency, bonus: granted })
        )
      })

      const grant: Bonuses["Service"]["grant"] = Effect.fn("Bonuses.grant")(
        function*(operatorId, playerId, request, answering) {
          // an unknown player answers before an unknown bonus does
          const player = yield* actors.read(operatorId, playerId)
          const step = yield* grantOf(player, yield* offered(operatorId, request.bonusId), request)
          return yield* actors.ask(operatorId, playerId, storingReply(step, answering.claim, answering.render))
        }
      )

      /** Cash counts as a correction upwards, and one that takes a second person is asked for as a correction. */
      const refuseCashAlone = Effect.fnUntraced(
        function*({ currency, id, operatorId }: Player, amount: number, now: number) {
          const operator = yield* oneOf(thresholdRows(
            sql`SELECT currency AS base, withdrawal_second_approval_above AS "secondApprovalAbove" FROM operators
            WHERE id = ${operatorId}`
          ))
          if (operator === undefined) return
          const { base, secondApprovalAbove } = operator
          const threshold = yield* thresholds.convert(secondApprovalAbove, { currency, base })
          if (threshold === null) return
          if (takesTwo(amount, yield* spending.correctedToday({ playerId: id, amount }, now), threshold)) {
            return yield* Effect.fail(cashTakesTwo)
          }
        }
      )

      const staffGrant: Bonuses["Service"]["staffGrant"] = Effect.fn("Bonuses.staffGrant")(
        function*(playerId, request, actor, mayNotGrantCash) {
          const player = yield* actors.read(null, playerId)
          const { operatorId } = player
          const bonus = yield* offered(operatorId, request.bonusId)
          if (mayNotGrantCash !== undefined && bonus.wageringMultiplier === 0) {
            return yield* Effect.fail(mayNotGrantCash)
          }
          const granted = actors.ask(operatorId, playerId, yield* grantOf(player, bonus, request, actor.label))
          const amount = request.amount ?? bonus.defaultAmount
          return bonus.wageringMultiplier === 0
            ? yield* spending.spend(
              actor,
              { playerId, kind: "correction", amount },
              granted,
              (now) => refuseCashAlone(player, amount, now)
            )
            : yield* spending.spend(actor, { playerId, kind: "bonus", amount }, granted, () => Effect.void)
        }
      )

      const redeem: Bonuses["Service"]["redeem"] = Effect.fn("Bonuses.redeem")(
        function*(operatorId, playerId, code, answering) {
          yield* actors.read(operatorId, playerId)
          const row = isStorable(code)
            ? yield* orTryAgain(oneOf(promoRows(
              sql`SELECT c.id AS "promoCodeId", c.code, c.active AS "isPromoActive", c.expires_at AS "expiresAt",
                  c.max_redemptions IS NOT NULL AND c.redemptions >= c.max_redemptions AS "isUsedUp",
                  EXISTS (SELECT FROM promo_redemptions r WHERE r.promo_code_id = c.id AND r.player_id = ${playerId})
                    AS "isRedeemed", ${catalogueSql}
                FROM promo_codes c JOIN bonuses b ON b.id = c.bonus_id JOIN operators o ON o.id = b.operator_id
                WHERE c.operator_id = ${operatorId} AND lower(c.code) = lower(${code})`
            )))
            : undefined
          if (row === undefined) return yield* Effect.fail(promoRefusal("unknown"))
          const { code: written, expiresAt, isPromoActive, isRedeemed, isUsedUp, promoCodeId, ...bonus } = row
          const step = owning(
            redeemStep({
              id: promoCodeId,
              code: written,
              bonus,
              isActive: isPromoActive,
              expiresAt: expiresAt?.getTime() ?? null,
              isUsedUp,
              isRedeemed
            }),
            ({ bonus: granted, ...redeemed }, { currency, id }): Redeemed => ({
              ...redeemed,
              owned: { playerId: id, currency, bonus: granted }
            })
          )
          return yield* actors.ask(
            operatorId,
            playerId,
            answering === undefined ? step : storingReply(step, answering.claim, answering.render)
          )
        }
      )

      const redeemAtRegistration: Bonuses["Service"]["redeemAtRegistration"] = Effect.fn(
        "Bonuses.redeemAtRegistration"
      )(
        function*(operatorId, playerId, code) {
          yield* redeem(operatorId, playerId, code).pipe(
            // anything but a passing failure is an answer: the code is not tried again
            Effect.catch((refusal) => refusal.code === "TRY_AGAIN" ? Effect.fail(refusal) : Effect.void),
            Effect.andThen(orTryAgain(sql`UPDATE players SET registration_promo_due = false WHERE id = ${playerId}`)),
            Effect.ignore
          )
        }
      )

      const ownerOf = Effect.fnUntraced(function*(playerBonusId: number) {
        const owner = yield* orTryAgain(oneOf(owners(
          sql`SELECT player_id AS "playerId" FROM player_bonuses WHERE id = ${playerBonusId}`
        )))
        return owner === undefined ? yield* Effect.fail(noSuchBonus) : owner.playerId
      })

      const cancel: Bonuses["Service"]["cancel"] = Effect.fn("Bonuses.cancel")(
        function*(playerBonusId, reason, actor) {
          const step = owning(
            cancelBonusStep({ id: playerBonusId, reason, actor }),
            (bonus, { currency, id }) => ({ playerId: id, currency, bonus })
          )
          return yield* actors.ask(null, yield* ownerOf(playerBonusId), step)
        }
      )

      const ofPlayer = (operatorId: number, playerId: number, { state }: BonusFilters) =>
        sql`FROM player_bonuses b JOIN players p ON p.id = b.player_id
          WHERE b.player_id = ${playerId} AND b.operator_id = ${operatorId} ${
          state === undefined ? sql`` : sql`AND b.state = ${state}`
        }`

      const list: Bonuses["Service"]["list"] = Effect.fn("Bonuses.list")(
        function*(operatorId, playerId, query) {
          yield* actors.read(operatorId, playerId)
          const from = ofPlayer(operatorId, playerId, query)
          const [found, counted] = yield* Effect.all([
            playerBonusRows(
              sql`SELECT ${playerBonusSql} ${from} ORDER BY b.id DESC LIMIT ${query.perPage} OFFSET ${offsetOf(query)}`
            ),
            counts(sql`SELECT count(*) AS total ${from}`)
          ], { concurrency: 2 })
          return { items: found.map(toOwnedBonus), total: counted[0]?.total ?? 0 }
        },
        orTryAgain
      )

      const walk: Bonuses["Service"]["walk"] = Effect.fn("Bonuses.walk")(
        function*(operatorId, playerId, query) {
          yield* actors.read(operatorId, playerId)
          const below = query.below === undefined ? sql`` : sql`AND b.id < ${query.below}`
          const rows = yield* playerBonusRows(
            sql`SELECT ${playerBonusSql} ${ofPlayer(operatorId, playerId, query)} ${below}
              ORDER BY b.id DESC LIMIT ${query.perPage + 1}`
          )
          return walkOf(rows, query, ({ id }) => id, toOwnedBonus)
        },
        orTryAgain
      )

      const tend = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const due = yield* owners(
          sql`(SELECT player_id AS "playerId" FROM player_bonuses
              WHERE state = 'activated' AND expires_at <= ${toDate(now)} ORDER BY expires_at LIMIT ${tendedMost})
            UNION (SELECT b.player_id::float8 FROM player_bonuses b JOIN players p ON p.id = b.player_id
              WHERE b.state = 'pending' AND p.status = 'active' AND NOT p.excluded_from_bonuses
                AND (p.exclusion_type IS NULL OR p.exclusion_until <= ${toDate(now)})
                AND NOT EXISTS (SELECT FROM player_bonuses a WHERE a.player_id = b.player_id AND a.state = 'activated')
              LIMIT ${tendedMost})`
        )
        // whoever cannot be tended now is found again
        const tended = yield* Effect.forEach(
          due,
          ({ playerId }) =>
            Effect.match(actors.ask(null, playerId, tendBonusesStep), { onFailure: () => 0, onSuccess: () => 1 }),
          { concurrency: tendedAtOnce }
        )
        const registered = yield* dueRows(
          sql`SELECT p.id AS "playerId", p.operator_id AS "operatorId", p.registration_promo_code AS code
            FROM players p JOIN operators o ON o.id = p.operator_id
            WHERE p.registration_promo_due AND p.created_at <= ${toDate(now - registrationMs)}
              AND p.created_at > ${toDate(now - registrationDueMs)}
              AND (o.cooperation_model = 'api' OR NOT 'bonuses' = ANY (o.disabled_features))
            ORDER BY p.created_at LIMIT ${tendedMost}`
        )
        yield* Effect.forEach(
          registered,
          ({ code, operatorId, playerId }) => redeemAtRegistration(operatorId, playerId, code),
          { concurrency: tendedAtOnce, discard: true }
        )
        return tended.filter((one) => one === 1).length + registered.length
      }).pipe(orTryAgain, Effect.withSpan("Bonuses.tend"))

      return Bonuses.of({ catalogue, list, walk, grant, staffGrant, redeem, redeemAtRegistration, cancel, tend })
    })
  )
}
