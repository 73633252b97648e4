/**
 * Balance corrections under the four-eyes rule: posted at once within the actor's authority, otherwise pending a second person's approval
 * (`docs/decisions/0021-staff.md`).
 */
import { Clock, Context, Effect, Layer, Schema, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { Entry, WalletKind } from "../../domain/state/Change.ts"
import { correctionStep, correctionSubject } from "../../domain/wallet/Corrections.ts"
import { needsTwo, objectionMessage, objectionToApproval } from "../../domain/staff/FourEyes.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { makeStaffFacts } from "../../office/SpendingFacts.ts"
import { StaffSpending } from "../../office/StaffSpending.ts"
import { Thresholds } from "../payments/Thresholds.ts"
import { iso } from "../../platform/Time.ts"
import { type ActorRefusal, PlayerActors, refusingOnce } from "../../store/PlayerActors.ts"
import type { Scope } from "../../store/OperatorScope.ts"
import { recordsOf } from "../../store/Records.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { listOf, newestFirst } from "../../store/Lists.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import type { Actor } from "../../office/Actor.ts"
import { Correction, type correctionStatuses } from "../../contract/corrections/StaffApi.ts"

/** How many requests may wait for one player. */
const maxWaiting = 20

export interface CorrectionInput {
  readonly wallet: WalletKind
  /** Signed minor units of the player's currency. */
  readonly amount: number
  readonly reason: string
}

type CorrectionStatus = (typeof correctionStatuses)[number]

/** Absent means any. */
export interface CorrectionQuery extends PartQuery {
  readonly scope: Scope
  readonly playerId?: number | undefined
  readonly status?: CorrectionStatus | undefined
}

type Correction = typeof Correction.Type

const subjects = rowsOf(Schema.Struct({
  operatorId: Schema.Number,
  currency: Schema.String,
  base: Schema.String,
  secondApprovalAbove: Schema.NullOr(Schema.Number),
  waiting: Schema.Number
}))
const postedRows = rowsOf(Schema.Struct({ at: Schema.Date, actor: Schema.String, transactionId: Schema.Number }))

const noSuchPlayer = refuse("NOT_FOUND", "There is no such player.")
const notFound = refuse("NOT_FOUND", "There is no such correction.")
const tooManyWait = refuse(
  "INVALID_REQUEST",
  `${maxWaiting} corrections of this player already wait for approval: approve or reject them first.`,
  {
    max_pending: maxWaiting
  }
)

const refuseDecided = ({ status }: Correction) =>
  refuse("PAYMENT_REQUEST_INVALID", `The correction is ${status}: it can no longer be approved or rejected.`, {
    status
  })

type Unavailable = Refusal<"TRY_AGAIN">
type Invalid = Refusal<"VALIDATION_FAILED">

export class Corrections extends Context.Service<Corrections, {
  /** Posts a correction, or has it wait for a second person where the player's corrections of the day are above the threshold. */
  readonly correct: (
    actor: Actor,
    playerId: number,
    input: CorrectionInput
  ) => Effect.Effect<
    | { readonly _tag: "Posted"; readonly entry: Entry }
    | { readonly _tag: "Pending"; readonly correction: Correction },
    Invalid | Refusal<"INVALID_REQUEST" | "LIMIT_EXCEEDED"> | ActorRefusal
  >
  /** Posts a pending correction, once. */
  readonly approve: (
    actor: Actor,
    correctionId: number
  ) => Effect.Effect<Correction, Invalid | Refusal<"PAYMENT_REQUEST_INVALID" | "LIMIT_EXCEEDED"> | ActorRefusal>
  /** Rejects a pending correction; its requester may do so, too. */
  readonly reject: (
    actor: Actor,
    correctionId: number,
    reason: string | null
  ) => Effect.Effect<Correction, Refusal<"NOT_FOUND" | "PAYMENT_REQUEST_INVALID"> | Unavailable>
  /** Corrections that need or needed approval, newest first. */
  readonly list: (query: CorrectionQuery) => Effect.Effect<Part<Correction>, Refusal<"VALIDATION_FAILED"> | Unavailable>
}>()("pitboss/corrections/Corrections") {
  static readonly layer = Layer.effect(
    Corrections,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const auditLog = yield* AuditLog
      const spending = yield* StaffSpending
      const thresholds = yield* Thresholds
      const staffFacts = yield* makeStaffFacts
      // Kept: approving. One approval at a time, for the pool's sake. Several nodes: its own; the row's lock keeps two nodes apart.
      // a transaction is open while the player's actor commits: one at a time leaves the connections to the others
      const approving = yield* Semaphore.make(1)
      const corrections = yield* recordsOf("corrections", Correction)

      /** The player's operator, locked: one correction of it at a time finds out whether it is one too many. */
      const locked = Effect.fnUntraced(function*(playerId: number) {
        const subject = yield* oneOf(subjects(
          sql`SELECT o.id AS "operatorId", p.currency, o.currency AS base,
              o.withdrawal_second_approval_above AS "secondApprovalAbove",
              (SELECT count(*)::float8 FROM corrections c WHERE c.player_id = p.id AND c.status = 'pending') AS waiting
            FROM players p JOIN operators o ON o.id = p.operator_id WHERE p.id = ${playerId}::float8::bigint
            FOR NO KEY UPDATE OF o`
        ))
        return subject === undefined ? yield* Effect.fail(noSuchPlayer) : subject
      })

      const correct: Corrections["Service"]["correct"] = Effect.fn("Corrections.correct")(
        function*(actor, playerId, input) {
          const { amount, reason, wallet } = input
          if (amount === 0) return yield* Effect.fail(refuseFields({ amount: ["must not be zero"] }))
          const decided = yield* auditLog.change(actor, ({ newId, now, record }) =>
            Effect.gen(function*() {
              const subject = yield* locked(playerId)
              const { currency, operatorId } = subject
              const threshold = yield* thresholds.convert(subject.secondApprovalAbove, subject)
              const beside = threshold === null ? 0 : yield* spending.correctedToday({ playerId, amount }, now)
              if (!needsTwo(Math.abs(amount), beside, threshold)) {
                return {
                  _tag: "Alone" as const,
                  spendingId: yield* spending.reserve(actor, { playerId, kind: "correction", amount }, now)
                }
              }
              if (subject.waiting >= maxWaiting) return yield* Effect.fail(tooManyWait)
              const correction: Correction = {
                id: newId,
                operator_id: operatorId,
                player_id: playerId,
                wallet,
                amount,
                currency,
                reason,
                status: "pending",
                requested_by: actor.label,
                requested_at: iso(now),
                decided_by: null,
                decided_at: null,
                transaction_id: null,
                reject_reason: null
              }
              yield* corrections.insert(correction)
              yield* record({
                action: "player.correct",
                operatorId,
                playerId,
                subject: correctionSubject(newId),
                before: null,
                after: { wallet, amount, status: "pending" },
                reason
              })
              return { _tag: "Pending" as const, correction }
            }))
          if (decided._tag === "Pending") return decided
          const posted = Effect.mapError(
            actors.ask(null, playerId, correctionStep({ ...input, actor: actor.label })),
            refusingOnce
          )
          return { _tag: "Posted", entry: yield* spending.releasing(decided.spendingId, posted) }
        }
      )

      /** A correction, locked until the transaction is over. */
      const find = Effect.fnUntraced(function*(correctionId: number) {
        const correction = yield* corrections.find(sql`id = ${correctionId}::float8::bigint FOR UPDATE`)
        return correction === undefined ? yield* Effect.fail(notFound) : correction
      })

      const refuseSamePerson = Effect.fnUntraced(function*(actor: Actor, { requested_at, requested_by }: Correction) {
        if (actor.label === requested_by) {
          return yield* Effect.fail(refuse(
            "PAYMENT_REQUEST_INVALID",
            "Somebody else has to approve this correction.",
            { reason: "second_approver", requested_by }
          ))
        }
        const requestedAt = Date.parse(requested_at)
        const { staff, trust } = yield* staffFacts([actor.label, requested_by])
        const objection = objectionToApproval({
          actor: staff.get(actor.label),
          others: [staff.get(requested_by)],
          correctors: [],
          requestedAt,
          trust
        })
        if (objection !== undefined) {
          return yield* Effect.fail(
            refuse("PAYMENT_REQUEST_INVALID", objectionMessage(objection), { reason: objection, requested_by })
          )
        }
      })

      /** Entry posted by an earlier approval whose completion was not recorded: the audit line committed with the entry. */
      const findPosted = ({ id, player_id }: Correction) =>
        oneOf(postedRows(
          sql`SELECT at, actor, (after ->> 'transaction_id')::float8 AS "transactionId" FROM audit_log
            WHERE player_id = ${player_id} AND action = 'correction.approve' AND subject = ${correctionSubject(id)}`
        ))

      const approve: Corrections["Service"]["approve"] = Effect.fn("Corrections.approve")(
        (actor, correctionId) =>
          approving.withPermits(1)(auditLog.change(actor, () =>
            Effect.gen(function*() {
              const correction = yield* find(correctionId)
              const { amount, player_id: playerId, reason, requested_by: requestedBy, wallet } = correction
              if (correction.status !== "pending") return yield* Effect.fail(refuseDecided(correction))
              yield* refuseSamePerson(actor, correction)
              // loading the player settles the outcome of an earlier approval
              yield* actors.read(null, playerId)
              const earlier = yield* findPosted(correction)
              const entry = earlier === undefined
                ? yield* actors.ask(
                  null,
                  playerId,
                  correctionStep({
                    wallet,
                    amount,
                    reason,
                    actor: actor.label,
                    approval: { requestId: correctionId, requestedBy }
                  })
                )
                : undefined
              const now = earlier?.at.getTime() ?? entry?.createdAt ?? (yield* Clock.currentTimeMillis)
              const approvedBy = earlier?.actor ?? actor.label
              yield* spending.note({ requestedBy, approvedBy }, { playerId, kind: "correction", amount }, now)
              const after: Correction = {
                ...correction,
                status: "posted",
                decided_by: approvedBy,
                decided_at: iso(now),
                transaction_id: earlier?.transactionId ?? entry?.id ?? null
              }
              yield* corrections.update(correction, after)
              return after
            })))
      )

      const reject: Corrections["Service"]["reject"] = Effect.fn("Corrections.reject")(
        (actor, correctionId, reason) =>
          auditLog.change(actor, ({ now, record }) =>
            Effect.gen(function*() {
              const before = yield* find(correctionId)
              // one that was posted without its end written down is posted
              if (before.status !== "pending" || (yield* findPosted(before)) !== undefined) {
                return yield* Effect.fail(refuseDecided(before))
              }
              const after: Correction = {
                ...before,
                status: "rejected",
                decided_by: actor.label,
                decided_at: iso(now),
                reject_reason: reason
              }
              yield* corrections.update(before, after)
              yield* record({
                action: "correction.reject",
                operatorId: before.operator_id,
                playerId: before.player_id,
                subject: correctionSubject(correctionId),
                before: { status: before.status },
                after: { status: "rejected" },
                ...(reason === null ? {} : { reason })
              })
              return after
            }))
      )

      const listed = listOf<Correction, Omit<CorrectionQuery, "scope" | keyof PartQuery>, "newest">(sql, {
        read: (where, end) => corrections.all(sql`${where} ${end}`),
        operator: "operator_id",
        filters: {
          playerId: (value) => sql`player_id = ${value}::float8::bigint`,
          // a literal, to match the partial index of those that wait
          status: (value) => value === "pending" ? sql`status = 'pending'` : sql`status = ${value}`
        },
        orders: { newest: newestFirst("requested_at", "id", ({ requested_at: at }) => Date.parse(at)) }
      })

      const list: Corrections["Service"]["list"] = Effect.fn("Corrections.list")(
        ({ scope, ...query }) => listed.part(scope, query, "newest"),
        orTryAgain
      )

      return Corrections.of({ correct, approve, reject, list })
    })
  )
}
