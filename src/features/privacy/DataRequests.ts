/**
 * Data subject requests, forwarded by operators: each has a staff case and a due date. An erasure runs in one transaction with its request: a killed
 * process leaves both or neither.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Chain } from "../../chain/Chain.ts"
import { DataRequest } from "../../contract/privacy/DataRequestResource.ts"
import { StaffDataRequest } from "../../contract/privacy/StaffApi.ts"
import { dataRequestDue, type DataRequestType } from "../../domain/privacy/DataRequests.ts"
import { type Refusal, refuse, temporarilyUnavailable } from "../../domain/Refusal.ts"
import type { IdempotencyClaim, RenderedReply } from "../../domain/state/Idempotency.ts"
import type { Actor } from "../../office/Actor.ts"
import { makeReferences } from "../../office/References.ts"
import { Ids } from "../../platform/Ids.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { iso, toDate } from "../../platform/Time.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { Idempotency } from "../../store/Idempotency.ts"
import { listOf, newestFirst } from "../../store/Lists.ts"
import { OperatorClocks } from "../../store/OperatorClocks.ts"
import { Outbox } from "../../store/Outbox.ts"
import { recordsOf } from "../../store/Records.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import { Cases } from "../cases/Cases.ts"
import { Erasures, refuseBlocked, requestNote, resultOf } from "./Erasures.ts"

/** Absent means any. */
interface RequestFilters {
  readonly playerId?: number | undefined
  readonly type?: DataRequestType | undefined
  readonly status?: DataRequest["status"] | undefined
}

interface Answering {
  readonly claim: IdempotencyClaim | undefined
  readonly render: (request: DataRequest) => RenderedReply
}

const notFound = refuse("NOT_FOUND", "There is no such data request.")
const noDocument = refuse("INVALID_REQUEST", "Only a request of the type access has a document.", {
  type: "erasure"
})
const isRefused = refuse("INVALID_REQUEST", "Staff refused this data request, so it has no document.", {
  status: "refused"
})

/** How many requests of a player may be open at a time. */
const maxOpen = 20
const tooMany = refuse("INVALID_REQUEST", `A player has at most ${maxOpen} open data requests.`)

const caseRows = rowsOf(Schema.Struct({ id: Schema.Number }))

export class DataRequests extends Context.Service<DataRequests, {
  /** Takes a request, and erases with it what may be erased now. */
  readonly request: (
    operatorId: number,
    playerId: number,
    type: DataRequestType,
    by: { readonly actor: string } & Answering
  ) => Effect.Effect<
    DataRequest,
    Refusal<"NOT_FOUND" | "INVALID_REQUEST" | "TRY_AGAIN" | "VALIDATION_FAILED" | "IDEMPOTENCY_IN_PROGRESS">
  >
  readonly find: (
    operatorId: number,
    playerId: number,
    requestId: number
  ) => Effect.Effect<DataRequest, Refusal<"NOT_FOUND" | "TRY_AGAIN">>
  /** The request of an access, whose document is about to be read. */
  readonly toRead: (
    operatorId: number,
    playerId: number,
    requestId: number
  ) => Effect.Effect<DataRequest, Refusal<"NOT_FOUND" | "INVALID_REQUEST" | "TRY_AGAIN">>
  /** Completes a request whose document was read to its end; nothing where it is completed. */
  readonly complete: (
    operatorId: number,
    requestId: number,
    actor: string
  ) => Effect.Effect<void, Refusal<"TRY_AGAIN">>
  /** Requests of the operators that the actor may see, newest first. */
  readonly walk: (
    actor: Pick<Actor, "operators">,
    operator: string | undefined,
    query: RequestFilters & PartQuery
  ) => Effect.Effect<Part<StaffDataRequest>, Refusal<"VALIDATION_FAILED" | "NOT_FOUND" | "TRY_AGAIN">>
}>()("pitboss/privacy/DataRequests") {
  static readonly layer = Layer.effect(
    DataRequests,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* Ids
      const chain = yield* Chain
      const cases = yield* Cases
      const erasures = yield* Erasures
      const idempotency = yield* Idempotency
      const clocks = yield* OperatorClocks
      const outbox = yield* Outbox
      const references = yield* makeReferences
      const records = yield* recordsOf("data_requests", DataRequest)
      const ofStaff = yield* recordsOf("data_requests", StaffDataRequest)

      const reserve = (count: number) => Effect.mapError(ids.reserve(count), () => temporarilyUnavailable)

      const recordOf = (one: StaffDataRequest, { actor, id, now }: {
        readonly actor: string
        readonly id: number
        readonly now: number
      }) => ({
        id,
        at: clocks.realOf(one.operator_id, now),
        actor,
        action: "player.data_request",
        operatorId: one.operator_id,
        playerId: one.player_id,
        subject: `data_request:${one.id}`,
        before: null,
        after: { type: one.type, status: one.status, due_at: one.due_at },
        reason: null
      })

      /**
       * Tells of a completed request and closes its case, unless staff have made it one of more than the request: only they close what was reported to an
       * authority or judges alerts, and let go what it holds. Its line of the audit log. The last of the open transaction but the
       * lines.
       */
      const completed = Effect.fnUntraced(function*(
        one: StaffDataRequest,
        { actor, id, now }: { readonly actor: string; readonly id: number; readonly now: number }
      ) {
        const closed = yield* caseRows(sql`UPDATE cases SET status = 'closed', updated_at = ${toDate(now)},
          closed_at = ${
          toDate(now)
        } WHERE id = ${one.case_id} AND status <> 'closed' AND decision IS DISTINCT FROM 'report'
            AND NOT EXISTS (SELECT FROM case_reports r WHERE r.case_id = cases.id)
            AND NOT EXISTS (SELECT FROM compliance_alerts a WHERE a.case_id = cases.id AND a.status <> 'closed')
          RETURNING id`)
        yield* outbox.insert([{
          id,
          operatorId: one.operator_id,
          playerId: one.player_id,
          type: "data_request.completed",
          data: { data_request: { id: one.id, type: one.type, status: one.status } },
          createdAt: now
        }])
        for (const { id: caseId } of closed) {
          yield* cases.tell({ ...one, id: caseId, type: "data_subject", status: "closed" }, now)
        }
        return [
          recordOf(one, { actor, id: id + 1, now }),
          ...closed.map(({ id: caseId }) => ({
            id: id + 2,
            at: clocks.realOf(one.operator_id, now),
            actor,
            action: "case.update",
            operatorId: one.operator_id,
            playerId: one.player_id,
            subject: `case:${caseId}`,
            before: null,
            after: { status: "closed" },
            reason: "the data request is completed"
          }))
        ]
      })

      const write = Effect.fnUntraced(function*(
        operatorId: number,
        playerId: number,
        type: DataRequestType,
        { actor, claim, render }: { readonly actor: string } & Answering
      ): Effect.fn.Return<
        DataRequest,
        | Refusal<"NOT_FOUND" | "INVALID_REQUEST" | "TRY_AGAIN" | "VALIDATION_FAILED" | "IDEMPOTENCY_IN_PROGRESS">
        | SqlError.SqlError
      > {
        const now = yield* Clock.currentTimeMillis
        const id = yield* reserve(4)
        return yield* inTransaction(sql)(Effect.gen(function*() {
          const locked = yield* erasures.lock(operatorId, playerId, now)
          if (type === "erasure" && locked.blocking.length > 0) {
            return yield* Effect.fail(refuseBlocked(locked.blocking))
          }
          const open = yield* records.count(sql`player_id = ${playerId} AND status = 'open'`)
          if (open >= maxOpen) return yield* Effect.fail(tooMany)
          const isErasure = type === "erasure"
          // first: what is written about the request stays
          if (isErasure) yield* erasures.write(locked, { actor, reason: `data request ${id}`, now })
          const { id: caseId } = yield* cases.open({
            player: playerId,
            operator: operatorId,
            type: "data_subject",
            by: actor,
            note: requestNote(type)
          })
          const made: StaffDataRequest = {
            id,
            operator_id: operatorId,
            player_id: playerId,
            type,
            status: isErasure ? "completed" : "open",
            due_at: iso(dataRequestDue(now)),
            created_at: iso(now),
            completed_at: isErasure ? iso(now) : null,
            result: isErasure ? resultOf(locked, now) : null,
            case_id: caseId,
            created_by: actor
          }
          yield* ofStaff.insert(made)
          const lines = isErasure
            ? yield* completed(made, { actor, id: id + 1, now })
            : [recordOf(made, { actor, id: id + 1, now })]
          yield* chain.writeAuditLines(lines)
          const { case_id: _case, created_by: _by, operator_id: _operator, ...shown } = made
          if (claim !== undefined) yield* idempotency.insert({ ...claim, ...render(shown), createdAt: now })
          return shown
        }))
      })

      const request: DataRequests["Service"]["request"] = Effect.fn("DataRequests.request")(
        function*(operatorId, playerId, type, by) {
          const made = yield* write(operatorId, playerId, type, by)
          if (by.claim !== undefined) idempotency.noteStored(by.claim)
          if (type === "erasure") yield* erasures.forget(playerId)
          return made
        },
        orTryAgain
      )

      const find: DataRequests["Service"]["find"] = Effect.fn("DataRequests.find")(
        function*(operatorId, playerId, requestId) {
          const found = yield* records.find(
            sql`id = ${requestId}::float8::bigint AND player_id = ${playerId}::float8::bigint AND operator_id = ${operatorId}`
          )
          return found ?? (yield* Effect.fail(notFound))
        },
        orTryAgain
      )

      const complete: DataRequests["Service"]["complete"] = Effect.fn("DataRequests.complete")(
        function*(operatorId, requestId, actor) {
          // the end of a stream has no fiber of the request
          const now = yield* clocks.around(operatorId)(Clock.currentTimeMillis)
          const id = yield* reserve(3)
          yield* inTransaction(sql)(Effect.gen(function*() {
            const found = yield* ofStaff.find(
              sql`id = ${requestId}::float8::bigint AND operator_id = ${operatorId} AND status = 'open' FOR NO KEY UPDATE`
            )
            if (found === undefined) return
            const done: StaffDataRequest = { ...found, status: "completed", completed_at: iso(now) }
            yield* sql`UPDATE data_requests SET status = 'completed', completed_at = ${toDate(now)}
              WHERE id = ${requestId}::float8::bigint AND operator_id = ${operatorId}`
            yield* chain.writeAuditLines(yield* completed(done, { actor, id, now }))
          }))
        },
        orTryAgain
      )

      const listed = listOf<StaffDataRequest, RequestFilters, "newest">(sql, {
        operator: "operator_id",
        read: (where, end) => ofStaff.all(sql`${where} ${end}`),
        filters: {
          playerId: (value) => sql`player_id = ${value}::float8::bigint`,
          type: (value) => sql`type = ${value}`,
          status: (value) => sql`status = ${value}`
        },
        orders: { newest: newestFirst("created_at", "id", ({ created_at: at }) => Date.parse(at)) }
      })

      return DataRequests.of({
        request,
        find,
        toRead: (operatorId, playerId, requestId) =>
          Effect.flatMap(
            find(operatorId, playerId, requestId),
            (found): Effect.Effect<DataRequest, Refusal<"INVALID_REQUEST">> =>
              found.type !== "access"
                ? Effect.fail(noDocument)
                : found.status === "refused"
                ? Effect.fail(isRefused)
                : Effect.succeed(found)
          ),
        complete,
        walk: Effect.fn("DataRequests.walk")(function*(actor, operator, query) {
          return yield* listed.part(yield* references.scope(actor, operator), query, "newest")
        }, orTryAgain)
      })
    })
  )
}
