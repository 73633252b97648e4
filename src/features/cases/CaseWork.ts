/** Staff work on cases: status changes, notes, linked alerts, reports to authorities, and evidence of a player's source of funds. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Case, type CaseDetails, CaseEvidence, CaseReport } from "../../contract/cases/CaseResource.ts"
import type { CaseFunds, CaseUpdate, ReportInput } from "../../contract/cases/StaffApi.ts"
import { isTold, moved, refuseMove, refuseReport, reportedAs } from "../../domain/case/Case.ts"
import type { CaseOrder } from "../../domain/case/CaseOrders.ts"
import { after } from "../../domain/jurisdiction/Duration.ts"
import { type Refusal, refuse, refuseFields, temporarilyUnavailable } from "../../domain/Refusal.ts"
import type { Actor } from "../../office/Actor.ts"
import { makeAssignees } from "../../office/Assignees.ts"
import { AuditLog, type ChangeUnit } from "../../office/AuditLog.ts"
import { Ids } from "../../platform/Ids.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { recordsOf } from "../../store/Records.ts"
import { oneOf, rowsOf } from "../../store/Rows.ts"
import { CaseOrders } from "./CaseOrders.ts"
import { Cases, maxAlerts } from "./Cases.ts"

/** Reports of one case, and pieces of evidence. */
const maxReports = 50
const maxEvidence = 200

type Refused = Refusal<"NOT_FOUND" | "VALIDATION_FAILED" | "INSUFFICIENT_SCOPE" | "TRY_AGAIN">

const notFound = refuse("NOT_FOUND", "There is no such case.")
const isClosed = refuseFields({ status: ["cannot be changed any more: it is closed"] })

const Facts = Schema.Struct({
  hasReport: Schema.Boolean,
  hasOpenQuestion: Schema.Boolean,
  hasRefusal: Schema.Boolean,
  isSanctioned: Schema.Boolean,
  hasCheck: Schema.Boolean,
  otherSanctions: Schema.Number,
  heldAlerts: Schema.Number
})
const factRows = rowsOf(Facts)
const idRows = rowsOf(Schema.Struct({ id: Schema.Number }))
const otherRows = rowsOf(Schema.Struct({ caseId: Schema.NullOr(Schema.Number) }))

export class CaseWork extends Context.Service<CaseWork, {
  /**
   * Moves a case, gives it to an account, or adds a note. What that decides for money is done with it: `mayNotRelease` is the refusal of an actor who
   * may not loosen anything now; absent: permitted.
   */
  readonly update: (
    actor: Actor,
    caseId: number,
    update: CaseUpdate,
    mayNotRelease?: Refusal<"INSUFFICIENT_SCOPE">
  ) => Effect.Effect<CaseDetails, Refused>
  /** Makes open alerts of the player part of a case. */
  readonly add: (actor: Actor, caseId: number, alerts: ReadonlyArray<number>) => Effect.Effect<CaseDetails, Refused>
  /** Notes a report to an authority, or what came of one that is known by its reference. */
  readonly report: (actor: Actor, caseId: number, input: ReportInput) => Effect.Effect<CaseReport, Refused>
  /** Asks the player where the money is from, keeps evidence of it, accepts or rejects that. */
  readonly funds: (actor: Actor, caseId: number, input: CaseFunds) => Effect.Effect<CaseDetails, Refused>
}>()("pitboss/cases/CaseWork") {
  static readonly layer = Layer.effect(
    CaseWork,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const ids = yield* Ids
      const orders = yield* CaseOrders
      const cases = yield* Cases
      const assignees = yield* makeAssignees("case.update", "case")
      const records = yield* recordsOf("cases", Case)
      const reports = yield* recordsOf("case_reports", CaseReport)
      const evidence = yield* recordsOf("case_evidence", CaseEvidence)

      const newId = Effect.mapError(ids.reserve(1), () => temporarilyUnavailable)

      /** The case that is not closed, locked until the change is done. */
      const open = Effect.fnUntraced(function*(caseId: number) {
        const found = yield* records.find(sql`id = ${caseId}::float8::bigint FOR NO KEY UPDATE`)
        if (found === undefined) return yield* Effect.fail(notFound)
        return found.status === "closed" ? yield* Effect.fail(isClosed) : found
      })

      const factsOf = Effect.fnUntraced(function*({ id, player_id: playerId, type }: Case) {
        // of two screenings that are decided at the same time the later one has to see the other
        if (type === "screening") {
          yield* sql`SELECT 1 FROM players WHERE id = ${playerId}::float8::bigint FOR NO KEY UPDATE`
        }
        const facts = yield* oneOf(factRows(
          sql`SELECT count(r.id) > 0 AS "hasReport", coalesce(bool_or(r.consent = 'requested'), false) AS "hasOpenQuestion",
              coalesce(bool_or(r.consent = 'refused'), false) AS "hasRefusal",
              (SELECT c.details @> '{"sanction": true}' FROM cases c WHERE c.id = ${id}::float8::bigint) AS "isSanctioned",
              EXISTS (SELECT FROM obligations o WHERE o.case_id = ${id}::float8::bigint
                AND o.player_id = ${playerId}::float8::bigint AND o.kind = 'vulnerability_check') AS "hasCheck",
              (SELECT count(*)::float8 FROM cases c WHERE c.player_id = ${playerId}::float8::bigint AND c.id <> ${id}::float8::bigint
                AND c.type = 'screening' AND c.status IN ('open', 'in_progress')
                AND c.details @> '{"sanction": true}') AS "otherSanctions",
              (SELECT count(*)::float8 FROM compliance_alerts a WHERE a.case_id = ${id}::float8::bigint
                AND a.player_id = ${playerId}::float8::bigint AND a.status <> 'closed' AND a.hold <> 'none') AS "heldAlerts"
            FROM case_reports r WHERE r.case_id = ${id}::float8::bigint AND r.player_id = ${playerId}::float8::bigint`
        ))
        return facts ?? (yield* Effect.fail(notFound))
      })

      const touched = (found: Case, now: number) =>
        sql`UPDATE cases SET updated_at = ${toDate(now)} WHERE id = ${found.id}::float8::bigint`

      const ofCase = ({ id, player_id: playerId }: Case) =>
        sql`case_id = ${id}::float8::bigint AND player_id = ${playerId}::float8::bigint`

      const lineOf = ({ id, operator_id: operatorId, player_id: playerId }: Case) => ({
        operatorId,
        playerId,
        subject: `case:${id}`
      })

      /** Closes the alerts of a case; gives those that held withdrawals. */
      const closeAlerts = Effect.fnUntraced(function*(found: Case, by: string, now: number) {
        const closing = JSON.stringify([{ at: iso(now), by, status: "closed", note: `case ${found.id} is closed` }])
        const closed = yield* idRows(
          sql`UPDATE compliance_alerts SET status = 'closed', closed_at = ${toDate(now)}, updated_at = ${toDate(now)},
              notes = notes || ${closing}::text::jsonb
            WHERE ${ofCase(found)} AND status <> 'closed' RETURNING id`
        )
        return closed.map((alert) => alert.id)
      })

      const imposed = (obligation: "screening" | "vulnerability_check"): ReadonlyArray<CaseOrder> => [
        { _tag: "Impose", obligation, dueAt: null, isTold: true, text: null }
      ]

      /**
       * What a move decides for money. The gate of a sanction is for every case about one, and stays until the last is decided. A case that is taken up
       * again is not decided: what it had imposed counts again.
       */
      const ordersOf = (
        before: Case,
        after: Case,
        { hasCheck, isSanctioned, otherSanctions }: typeof Facts.Type,
        closedAlerts: ReadonlyArray<number>
      ): ReadonlyArray<CaseOrder> => {
        if (before.status === after.status) return []
        const isReopened = before.status === "decided" && after.status === "in_progress"
        const imposedAgain: ReadonlyArray<CaseOrder> = !isReopened ? [] : after.type === "screening"
          ? isSanctioned ? imposed("screening") : []
          : hasCheck
          ? imposed("vulnerability_check")
          : []
        const settled: ReadonlyArray<CaseOrder> = after.status !== "decided" ? [] : after.type === "screening"
          ? otherSanctions > 0 ? [] : [{ _tag: "Settle", obligation: "screening", state: "waived" }]
          : after.type === "vulnerability"
          ? [{ _tag: "Settle", obligation: "vulnerability_check", state: "met" }]
          : []
        return [
          ...settled,
          ...imposedAgain,
          ...(before.amount === after.amount ? [] : [{ _tag: "Cap", amount: after.amount } as const]),
          ...(after.status === "closed"
            ? [{ _tag: "Release" } as const, { _tag: "ReleaseAlerts", alerts: closedAlerts } as const]
            : [])
        ]
      }

      const update: CaseWork["Service"]["update"] = Effect.fn("CaseWork.update")(
        function*(actor, caseId, { assign, note: given, ...move }, mayNotRelease) {
          const text = given?.trim() ?? ""
          const playerId = yield* auditLog.change(actor, ({ now, record }) =>
            Effect.gen(function*() {
              const before = yield* open(caseId)
              const facts = yield* factsOf(before)
              const refusal = refuseMove(before, move, facts)
              if (refusal !== undefined) return yield* Effect.fail(refusal)
              const assignee = assign === undefined
                ? before.assigned_to
                : yield* assignees(actor, assign, before.operator_id)
              const { amount, decision, status } = moved(before, move)
              const isSame = status === before.status && assignee === before.assigned_to
              if (isSame && text === "") return before.player_id
              const loosens = status === "closed"
                ? facts.heldAlerts > 0 || facts.hasRefusal || facts.isSanctioned
                : status === "decided" && status !== before.status &&
                  (decision === "raise" || before.type === "screening")
              if (mayNotRelease !== undefined && loosens) return yield* Effect.fail(mayNotRelease)
              const after: Case = {
                ...before,
                status,
                decision,
                amount,
                assigned_to: assignee,
                updated_at: iso(now),
                closed_at: status === "closed" ? iso(now) : null
              }
              yield* records.update(before, after)
              if (text !== "") yield* cases.note(after, actor.label, now, text)
              const closed = status === "closed" ? yield* closeAlerts(before, actor.label, now) : []
              yield* orders.keep(before, actor.label, ordersOf(before, after, facts, closed))
              // a request of the person whose case is closed by staff is not met any more
              const refused = status !== "closed" || before.type !== "data_subject" ? [] : yield* idRows(
                sql`UPDATE data_requests SET status = 'refused', completed_at = ${toDate(now)}
                  WHERE case_id = ${caseId}::float8::bigint AND player_id = ${before.player_id}::float8::bigint AND status = 'open'
                  RETURNING id`
              )
              if (status === "closed") yield* cases.tell(after, now)
              const shown = ({ amount, assigned_to, decision, status }: Case) => ({
                status,
                decision,
                assigned_to,
                ...(amount === null ? {} : { amount })
              })
              yield* record({
                action: "case.update",
                ...lineOf(before),
                before: shown(before),
                after: {
                  ...shown(after),
                  ...(closed.length === 0 ? {} : { closed_alerts: closed }),
                  ...(refused.length === 0 ? {} : { refused_requests: refused.map(({ id }) => id) })
                },
                ...(text === "" ? {} : { reason: text })
              })
              return before.player_id
            }))
          yield* orders.done(playerId)
          return yield* cases.show(caseId)
        }
      )

      const add: CaseWork["Service"]["add"] = Effect.fn("CaseWork.add")(function*(actor, caseId, alerts) {
        yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const found = yield* open(caseId)
            const before = yield* cases.alertsOf(found)
            const news = [...new Set(alerts)].filter((id) => !before.includes(id))
            if (news.length === 0) return
            if (before.length + news.length > maxAlerts) {
              return yield* Effect.fail(
                refuseFields({ alerts: [`are too many: a case has at most ${maxAlerts} alerts`] })
              )
            }
            yield* cases.link(found, news, now)
            yield* touched(found, now)
            yield* record({
              action: "case.add",
              ...lineOf(found),
              before: { alerts: before },
              after: { alerts: [...before, ...news] }
            })
          }))
        return yield* cases.show(caseId)
      })

      const report: CaseWork["Service"]["report"] = Effect.fn("CaseWork.report")(function*(actor, caseId, input) {
        const { playerId, report: written } = yield* auditLog.change(
          actor,
          ({ newId: id, now, record }) =>
            Effect.gen(function*() {
              const found = yield* open(caseId)
              const { player_id: playerId } = found
              const known = yield* reports.find(sql`${ofCase(found)} AND reference = ${input.reference}`)
              const refusal = refuseReport(known, input, now)
              if (refusal !== undefined) return yield* Effect.fail(refusal)
              const count = yield* reports.count(ofCase(found))
              if (known === undefined && count >= maxReports) {
                return yield* Effect.fail(
                  refuseFields({ reference: [`is one report too many: a case has at most ${maxReports}`] })
                )
              }
              const made: CaseReport = {
                ...(known ??
                  { id, created_at: iso(now), authority: "", reference: input.reference, submitted_at: iso(now) }),
                ...reportedAs(known, input),
                updated_at: iso(now)
              }
              if (
                known !== undefined &&
                JSON.stringify({ ...made, updated_at: known.updated_at }) === JSON.stringify(known)
              ) {
                return { playerId, report: known }
              }
              if (known === undefined) {
                yield* reports.insert(made, {
                  case_id: caseId,
                  operator_id: found.operator_id,
                  player_id: playerId
                })
              } else yield* reports.update(known, made)
              yield* touched(found, now)
              const facts = yield* factsOf(found)
              const holds = facts.hasOpenQuestion || facts.hasRefusal || facts.isSanctioned
              yield* orders.keep(found, actor.label, [holds ? { _tag: "Hold" } : { _tag: "Release" }])
              // without its text: the log is exported
              const shown = ({ consent, deemed_at, id, submitted_at }: CaseReport) => ({
                report_id: id,
                submitted_at,
                consent,
                deemed_at
              })
              yield* record({
                action: "case.sar",
                ...lineOf(found),
                before: known === undefined ? null : shown(known),
                after: shown(made)
              })
              return { playerId, report: made }
            })
        )
        yield* orders.done(playerId)
        return written
      })

      const keepEvidence = Effect.fnUntraced(function*(
        found: Case,
        pieces: NonNullable<CaseFunds["evidence"]>,
        { now }: ChangeUnit,
        by: string
      ) {
        const count = yield* evidence.count(ofCase(found))
        if (count + pieces.length > maxEvidence) {
          return yield* Effect.fail(
            refuseFields({ evidence: [`is too much: a case has at most ${maxEvidence} pieces of evidence`] })
          )
        }
        for (const piece of pieces) {
          yield* evidence.insert({ id: yield* newId, ...piece, at: iso(now), by }, {
            case_id: found.id,
            operator_id: found.operator_id,
            player_id: found.player_id
          })
        }
      })

      const funds: CaseWork["Service"]["funds"] = Effect.fn("CaseWork.funds")(function*(actor, caseId, input) {
        const { accept, due, evidence: pieces = [], reject, text } = input
        const playerId = yield* auditLog.change(actor, (unit) =>
          Effect.gen(function*() {
            const found = yield* open(caseId)
            const given = [text, pieces.length === 0 ? undefined : pieces, accept, reject].filter((one) =>
              one !== undefined
            )
            if (given.length === 0 && due === undefined) return found.player_id
            if (given.length !== 1) {
              return yield* Effect.fail(
                refuseFields({ text: ["exactly one of text, evidence, accept and reject must be sent"] })
              )
            }
            if (due !== undefined && text === undefined) {
              return yield* Effect.fail(refuseFields({ due: ["may be given only with text"] }))
            }
            const { now, record } = unit
            const asked = yield* oneOf(otherRows(
              sql`SELECT case_id AS "caseId" FROM obligations WHERE player_id = ${found.player_id}::float8::bigint
                AND kind = 'source_of_funds' AND state = 'open'`
            ))
            const isAsked = asked?.caseId === caseId
            if (text === undefined && !isAsked) {
              return yield* Effect.fail(
                refuseFields({
                  text: ["must be sent first: this case has not asked the player for the source of funds"]
                })
              )
            }
            if (text !== undefined && asked !== undefined) {
              return yield* Effect.fail(
                refuseFields({ text: ["cannot be sent: the player has already been asked for the source of funds"] })
              )
            }
            const dueAt = due === undefined ? now : after(due, now)
            if (text !== undefined) {
              yield* orders.keep(found, actor.label, [{
                _tag: "Impose",
                obligation: "source_of_funds",
                dueAt,
                isTold: isTold(found.type),
                text
              }])
            }
            yield* keepEvidence(found, pieces, unit, actor.label)
            if (accept === true) {
              yield* orders.keep(found, actor.label, [{ _tag: "Settle", obligation: "source_of_funds", state: "met" }])
            }
            if (reject === true) {
              yield* cases.note(found, actor.label, now, "The evidence of the source of funds was rejected.")
            }
            yield* touched(found, now)
            yield* record({
              action: "case.funds",
              ...lineOf(found),
              before: null,
              after: text !== undefined
                ? { text, due_at: iso(dueAt) }
                : pieces.length > 0
                ? { evidence: pieces }
                : { source_of_funds: accept === true ? "accepted" : "rejected" }
            })
            return found.player_id
          }))
        yield* orders.done(playerId)
        return yield* cases.show(caseId)
      })

      return CaseWork.of({ update, add, report, funds })
    })
  )
}
