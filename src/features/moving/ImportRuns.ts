/**
 * Player imports under the four-eyes rule: one person opens, checks and proposes an import, another approves it (docs/decisions/0068-moving-in.md).
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ImportRun, type importStatuses } from "../../contract/moving/StaffApi.ts"
import { addTotals, type ImportTotals, noTotals } from "../../contract/moving/LineResource.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { objectionMessage, objectionToApproval } from "../../domain/staff/FourEyes.ts"
import type { Actor } from "../../office/Actor.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { makeReferences } from "../../office/References.ts"
import { makeStaffFacts } from "../../office/SpendingFacts.ts"
import { iso, toDate } from "../../platform/Time.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { lastFirst, listOf } from "../../store/Lists.ts"
import type { Scope } from "../../store/OperatorScope.ts"
import { recordsOf } from "../../store/Records.ts"
import { orTryAgain } from "../../store/Rows.ts"
import { makeChunks } from "./internal/Chunks.ts"
import { noSuchImport, refuseOther, refuseStatus } from "./internal/Examined.ts"

type ImportRun = typeof ImportRun.Type

export interface NewRun {
  readonly operator: string
  readonly name: string
  readonly file_sha256: string
  readonly sends_events?: boolean
}

/** Absent means any. */
export interface RunQuery extends PartQuery {
  readonly scope: Scope
  readonly status?: (typeof importStatuses)[number] | undefined
}

type Unavailable = Refusal<"TRY_AGAIN">
type Wrong = Refusal<"INVALID_REQUEST">

export class ImportRuns extends Context.Service<ImportRuns, {
  /** The import of a file that was not rejected, begun where there is none. */
  readonly open: (actor: Actor, run: NewRun) => Effect.Effect<ImportRun, Refusal<"NOT_FOUND"> | Unavailable>
  readonly show: (runId: number) => Effect.Effect<ImportRun, Refusal<"NOT_FOUND"> | Unavailable>
  readonly list: (query: RunQuery) => Effect.Effect<Part<ImportRun>, Refusal<"VALIDATION_FAILED"> | Unavailable>
  /** Ends the checking of an import of so many chunks, by who began it: its totals are those of the chunks. */
  readonly propose: (
    actor: Actor,
    runId: number,
    chunks: number
  ) => Effect.Effect<ImportRun, Refusal<"NOT_FOUND"> | Wrong | Unavailable>
  /** Approves the totals, as another person than who began, checked and proposed the import. */
  readonly approve: (
    actor: Actor,
    runId: number
  ) => Effect.Effect<ImportRun, Refusal<"NOT_FOUND"> | Wrong | Unavailable>
  /** Rejects an import that was not begun to be posted; who proposed it may do so, too. */
  readonly reject: (
    actor: Actor,
    runId: number,
    reason: string | null
  ) => Effect.Effect<ImportRun, Refusal<"NOT_FOUND"> | Wrong | Unavailable>
}>()("pitboss/moving/ImportRuns") {
  static readonly layer = Layer.effect(
    ImportRuns,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const references = yield* makeReferences
      const staffFacts = yield* makeStaffFacts
      const chunks = yield* makeChunks
      const runs = yield* recordsOf("import_runs", ImportRun, {
        computed: {
          posted_chunks: "(SELECT count(*)::float8 FROM import_chunks c WHERE c.run_id = import_runs.id AND c.posted)"
        }
      })

      const find = Effect.fnUntraced(function*(runId: number, isLocked: boolean) {
        const lock = sql.literal(isLocked ? "FOR NO KEY UPDATE" : "")
        const run = yield* runs.find(sql`id = ${runId}::float8::bigint ${lock}`)
        return run ?? (yield* Effect.fail(noSuchImport))
      })

      const open = Effect.fn("ImportRuns.open")((actor: Actor, sent: NewRun) =>
        auditLog.change(actor, ({ newId, now, recordChange }) =>
          Effect.gen(function*() {
            const operatorId = yield* references.operatorId(sent.operator)
            // one at a time: two that begin the same file get the same import
            yield* sql`SELECT 1 FROM operators WHERE id = ${operatorId} FOR NO KEY UPDATE`
            const found = yield* runs.find(
              sql`operator_id = ${operatorId} AND file_sha256 = ${sent.file_sha256} AND status <> 'rejected'`
            )
            if (found !== undefined) return found
            const run: ImportRun = {
              id: newId,
              operator_id: operatorId,
              name: sent.name,
              file_sha256: sent.file_sha256,
              sends_events: sent.sends_events ?? false,
              status: "checking",
              chunks: null,
              posted_chunks: 0,
              totals: null,
              proposed_by: actor.label,
              proposed_at: iso(now),
              decided_by: null,
              decided_at: null,
              posting_at: null
            }
            yield* runs.insert(run)
            return yield* recordChange("import_run.open", null, run)
          }))
      )

      const changed = (
        actor: Actor,
        runId: number,
        action: "import_run.propose" | "import_run.approve" | "import_run.reject",
        change: (
          before: ImportRun,
          now: number,
          newId: number
        ) => Effect.Effect<ImportRun, Wrong | Refusal<"NOT_FOUND"> | Unavailable>
      ) =>
        auditLog.change(actor, ({ newId, now, record }) =>
          Effect.gen(function*() {
            const before = yield* find(runId, true)
            const after = yield* change(before, now, newId)
            yield* runs.update(before, after)
            yield* record({
              action,
              operatorId: after.operator_id,
              subject: `import:${runId}`,
              before: { status: before.status, totals: before.totals, name: before.name },
              after: { status: after.status, totals: after.totals, name: after.name }
            })
            return after
          }))

      const propose: ImportRuns["Service"]["propose"] = Effect.fn("ImportRuns.propose")((actor, runId, count) =>
        changed(actor, runId, "import_run.propose", (before, now) =>
          Effect.gen(function*() {
            const other = refuseOther(actor, before)
            if (other !== undefined) return yield* Effect.fail(other)
            if (before.status !== "checking") return yield* Effect.fail(refuseStatus(before.status))
            const checked = yield* orTryAgain(chunks.totalsOf(runId))
            if (checked.length !== count || checked.some(({ number }, index) => number !== index)) {
              return yield* Effect.fail(
                refuse(
                  "INVALID_REQUEST",
                  "The chunks of the file have not all been checked. Check them before you propose the import.",
                  { checked: checked.length, chunks: count }
                )
              )
            }
            yield* orTryAgain(chunks.endCheck(runId))
            const totals = checked.reduce<ImportTotals>((sum, chunk) => addTotals(sum, chunk.totals), noTotals)
            return {
              ...before,
              status: "proposed",
              chunks: count,
              totals,
              proposed_at: iso(now)
            }
          }))
      )

      const refuseSamePerson = Effect.fnUntraced(function*(actor: Actor, { proposed_at, proposed_by }: ImportRun) {
        const { staff, trust } = yield* orTryAgain(staffFacts([actor.label, proposed_by]))
        const objection = actor.label === proposed_by ? "second_approver" : objectionToApproval({
          actor: staff.get(actor.label),
          others: [staff.get(proposed_by)],
          correctors: [],
          requestedAt: Date.parse(proposed_at),
          trust
        })
        if (objection === undefined) return
        const message = objection === "second_approver"
          ? "Somebody else has to approve this import."
          : objectionMessage(objection)
        return yield* Effect.fail(refuse("INVALID_REQUEST", message, { reason: objection, proposed_by }))
      })

      /** Catalogue entry for the bonuses that come with an import: inactive, so that nobody is granted it. */
      const addBonus = (run: ImportRun, id: number, now: number) =>
        sql`INSERT INTO bonuses (id, operator_id, name, description, type, default_amount, wagering_multiplier, valid_days, active,
            created_at, updated_at)
          VALUES (${id}, ${run.operator_id}, ${`Imported: ${run.name}`.slice(0, 255)}, '', 'no_deposit', 1, 1, 1, false,
            ${toDate(now)}, ${toDate(now)})`.pipe(
          Effect.andThen(sql`UPDATE import_runs SET bonus_id = ${id} WHERE id = ${run.id}`),
          orTryAgain
        )

      const approve: ImportRuns["Service"]["approve"] = Effect.fn("ImportRuns.approve")((actor, runId) =>
        changed(actor, runId, "import_run.approve", (before, now, newId) =>
          Effect.gen(function*() {
            if (before.status !== "proposed") return yield* Effect.fail(refuseStatus(before.status))
            yield* refuseSamePerson(actor, before)
            const { bonus_balances: running, pending_bonuses: waiting } = before.totals ?? noTotals
            if (Object.keys({ ...running, ...waiting }).length > 0) yield* addBonus(before, newId, now)
            return { ...before, status: "approved", decided_by: actor.label, decided_at: iso(now) }
          }))
      )

      const reject: ImportRuns["Service"]["reject"] = Effect.fn("ImportRuns.reject")((actor, runId) =>
        changed(
          actor,
          runId,
          "import_run.reject",
          Effect.fnUntraced(function*(before, now) {
            if (before.posting_at !== null || before.status === "rejected") {
              return yield* Effect.fail(refuseStatus(before.status))
            }
            yield* orTryAgain(chunks.endCheck(runId))
            return { ...before, status: "rejected", decided_by: actor.label, decided_at: iso(now) }
          })
        )
      )

      const listed = listOf<ImportRun, Omit<RunQuery, "scope" | keyof PartQuery>, "newest">(sql, {
        read: (where, end) => runs.all(sql`${where} ${end}`),
        operator: "operator_id",
        filters: { status: (value) => sql`status = ${value}` },
        orders: { newest: lastFirst("id") }
      })

      return ImportRuns.of({
        open,
        show: Effect.fn("ImportRuns.show")((runId) => orTryAgain(find(runId, false))),
        list: Effect.fn("ImportRuns.list")(({ scope, ...query }) => orTryAgain(listed.part(scope, query, "newest"))),
        propose,
        approve,
        reject
      })
    })
  )
}
