/** Lets two persons accept a restored backup: the chain ends that processes remember are replaced by those in the tables. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type LedgerEnds, RememberedEnds } from "../../chain/Ends.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { objectionMessage, objectionToApproval } from "../../domain/staff/FourEyes.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { makeStaffFacts } from "../../office/SpendingFacts.ts"
import type { Actor } from "../../office/Actor.ts"
import type { LedgerRestore } from "../../contract/ledger/StaffApi.ts"

type LedgerRestore = typeof LedgerRestore.Type

/** Time in which the second person accepts, milliseconds. */
const waitsMs = 86_400_000

/** Advisory lock of acceptances; an arbitrary number. */
const lockKey = 7_204_551_047

const rows = rowsOf(Schema.Struct({
  id: Schema.Number,
  reason: Schema.String,
  requestedBy: Schema.String,
  requestedAt: Schema.Date,
  newSeal: Schema.NullOr(Schema.Number),
  newHash: Schema.NullOr(Schema.String),
  end: Schema.String,
  tag: Schema.Uint8Array
}))

const sealOf = (seal: LedgerEnds["seal"]) => ({
  seal: seal === null ? null : Number(seal.seal),
  digest: seal?.hash ?? null
})

const nothingLost = refuse(
  "INVALID_REQUEST",
  "The ledger has all entries that this process recorded: there is no restore to accept."
)

export class LedgerRestores extends Context.Service<LedgerRestores, {
  /** Asks for the acceptance of the present end, or, by a second person, accepts it. */
  readonly accept: (
    actor: Actor,
    reason: string
  ) => Effect.Effect<LedgerRestore, Refusal<"INVALID_REQUEST" | "TRY_AGAIN">>
}>()("pitboss/ledger/LedgerRestores") {
  static readonly layer = Layer.effect(
    LedgerRestores,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const ends = yield* RememberedEnds
      const staffFacts = yield* makeStaffFacts

      const refuseOnePerson = Effect.fnUntraced(function*(actor: Actor, requestedBy: string, requestedAt: number) {
        const { staff, trust } = yield* staffFacts([actor.label, requestedBy])
        const objection = objectionToApproval({
          actor: staff.get(actor.label),
          others: [staff.get(requestedBy)],
          correctors: [],
          requestedAt,
          trust
        })
        if (objection !== undefined) {
          return yield* Effect.fail(
            refuse("INVALID_REQUEST", objectionMessage(objection), { reason: objection, requested_by: requestedBy })
          )
        }
      })

      const accept: LedgerRestores["Service"]["accept"] = Effect.fn("LedgerRestores.accept")(
        function*(actor, reason) {
          if ((yield* orTryAgain(ends.look)).length === 0) return yield* Effect.fail(nothingLost)
          const { at: seenAt, seal: old } = ends.current()
          const accepted = yield* auditLog.change(actor, ({ newId, now, record }) =>
            Effect.gen(function*() {
              yield* sql`SELECT pg_advisory_xact_lock(${lockKey}::bigint)`
              const before = sealOf(old)
              // of this loss: one from before this process last saw an end that was whole is of another
              const [last] = yield* rows(
                sql`SELECT id, reason, requested_by AS "requestedBy", requested_at AS "requestedAt", new_seal AS "newSeal",
                    new_hash AS "newHash", requested_end AS end, request_tag AS tag FROM ledger_restores
                  WHERE approved_at IS NULL AND old_hash IS NOT DISTINCT FROM ${before.digest}::text
                    AND requested_end IS NOT NULL AND requested_at > ${toDate(Math.max(now - waitsMs, seenAt))}
                  ORDER BY requested_at DESC LIMIT 1`
              )
              // more was cut off since: the first person has not seen this end
              const asked = last !== undefined &&
                  (yield* ends.isThere({ ...last, oldHash: before.digest, requestedAt: last.requestedAt.getTime() }))
                ? last
                : undefined
              let [newSeal, newHash] = [asked?.newSeal ?? null, asked?.newHash ?? null]
              if (asked === undefined) {
                const { end, seal, tag } = yield* ends.request({
                  id: newId,
                  requestedBy: actor.label,
                  requestedAt: now,
                  oldHash: before.digest
                })
                ;({ digest: newHash, seal: newSeal } = sealOf(seal))
                yield* sql`INSERT INTO ledger_restores
                    (id, reason, requested_by, requested_at, old_seal, old_hash, new_seal, new_hash, requested_end, request_tag)
                  VALUES (${newId}, ${reason}, ${actor.label}, ${
                  toDate(now)
                }, ${before.seal}, ${before.digest}, ${newSeal}, ${newHash},
                    ${end}, ${tag})`
                yield* record({
                  action: "ledger.accept_restore",
                  subject: `restore:${newId}`,
                  before: null,
                  after: { status: "pending", ...before },
                  reason
                })
              }
              const pending: LedgerRestore = {
                id: asked?.id ?? newId,
                status: "pending",
                reason: asked?.reason ?? reason,
                requested_by: asked?.requestedBy ?? actor.label,
                requested_at: iso(asked?.requestedAt.getTime() ?? now),
                approved_by: null,
                old_seal: before.seal,
                old_hash: before.digest,
                new_seal: newSeal,
                new_hash: newHash
              }
              if (asked === undefined || asked.requestedBy === actor.label) return pending
              yield* refuseOnePerson(actor, asked.requestedBy, asked.requestedAt.getTime())
              const after = yield* ends.approve(asked.id, { oldHash: before.digest, at: now, requested: asked.end })
              const accepted = sealOf(after.seal)
              yield* sql`UPDATE ledger_restores SET approved_by = ${actor.label}, approved_at = ${toDate(now)},
                new_seal = ${accepted.seal}, new_hash = ${accepted.digest}, accepted_end = ${after.end}, tag = ${after.tag} WHERE id = ${pending.id}`
              const restore: LedgerRestore = {
                ...pending,
                status: "accepted",
                approved_by: actor.label,
                new_seal: accepted.seal,
                new_hash: accepted.digest
              }
              // links the seal of before to the end that takes its place: the line is in the chain, and the next seal over it
              yield* record({
                action: "ledger.accept_restore",
                subject: `restore:${pending.id}`,
                before: { status: "pending", ...before },
                after: {
                  status: "accepted",
                  requested_by: pending.requested_by,
                  ...accepted
                },
                reason
              })
              return restore
            }))
          // finds the acceptance, as every other process does
          yield* orTryAgain(ends.look)
          return accepted
        }
      )

      return LedgerRestores.of({ accept })
    })
  )
}
