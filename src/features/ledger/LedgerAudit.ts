/**
 * Verification of the ledger: every ledger invariant, checked over all tables in one snapshot.
 *
 * The statements (LedgerInvariants.ts) share no code with the journal whose rows they check, so that a defect there cannot hide here. They read a
 * snapshot in two sessions, block no writer, and use two processors at most.
 */
import { Context, Effect, Layer, Option, Queue, Schema, Semaphore, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { ChainKey } from "../../chain/Chain.ts"
import { ChainCheck } from "../../chain/ChainCheck.ts"
import { type LedgerEnds, RememberedEnds } from "../../chain/Ends.ts"
import { walkChain } from "../../chain/ChainWalk.ts"
import { endLine, ExportWriter, headLine } from "../../chain/ExportLines.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { ReportClient } from "../../platform/Database.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import { type LedgerInvariant, maxViolations, type Violation } from "./LedgerInvariant.ts"
import { chainInvariants, countUnlinked } from "./ChainInvariants.ts"
import { forOperator, ledgerInvariants } from "./LedgerInvariants.ts"
import { findWrongOutcomes, originalInvariants } from "./OriginalsAudit.ts"
import { reportInvariants } from "./ReportInvariants.ts"

export interface LedgerReport {
  readonly players: number
  readonly entries: number
  readonly violations: ReadonlyArray<Violation>
  /** Commits in the chain of hashes. */
  readonly links: number
  /** Rows from before there was a chain that are still to be linked: changes of these are not found yet. */
  readonly not_yet_linked: number
  readonly seals: number
  /** The hash of the last seal; null before the first. */
  readonly last_seal_hash: string | null
}

const violationRows = rowsOf(Schema.Struct({
  rule: Schema.String,
  player_id: Schema.NullOr(Schema.Number),
  subject: Schema.String,
  message: Schema.String
}))
const unlinkedRows = rowsOf(Schema.Struct({ rows: Schema.Number }))
const snapshotRows = rowsOf(Schema.Struct({ snapshot: Schema.String }))
const countRows = rowsOf(Schema.Struct({ players: Schema.Number, entries: Schema.Number }))

const invariants: ReadonlyArray<LedgerInvariant> = [
  ...ledgerInvariants,
  ...originalInvariants,
  ...reportInvariants,
  ...chainInvariants
]

/** The rules in the order in which their violations are reported. */
const order = [...new Set(invariants.flatMap(({ rule }) => rule))]

/** The violations of an invariant: of each rule the first hundred. */
const statementOf = ({ rule, statement }: LedgerInvariant): string =>
  typeof rule === "string"
    ? `SELECT '${rule}' AS rule, player_id, subject, message FROM (${statement}) found LIMIT ${maxViolations}`
    : `SELECT rule, player_id, subject, message
        FROM (SELECT *, row_number() OVER (PARTITION BY rule) AS place FROM (${statement}) found) numbered
        WHERE place <= ${maxViolations}`

/** Plan types disabled while whole tables are read. */
const jumps = ["indexscan", "indexonlyscan", "bitmapscan", "nestloop", "mergejoin"]

/** Parts of the chain that are hashed before others get their turn: about a millisecond of work. */
const partsPerSlice = 500

const notShared = refuse(
  "TRY_AGAIN",
  "Two connections to the database do not share a snapshot: it has just failed over, or a pooler sends them to different servers."
)

/** How long an export waits for its reader to take the next part, milliseconds: the time-out of a silent connection. */
export const ExportPatience = Context.Reference<number>("pitboss/ledger/ExportPatience", {
  defaultValue: () => 60_000
})

const notTaken = refuse("TRY_AGAIN", "The export was not read.")

const busy = refuse("TRY_AGAIN", "A verification of the ledger is running. Try again when it has ended.")

export class LedgerAudit extends Context.Service<LedgerAudit, {
  /**
   * Checks the ledgers of one operator or, with undefined, all. Takes as long as reading the tables a few times. One at a time: each
   * takes two processors of PostgreSQL's to its end.
   */
  readonly verify: (operatorId: number | undefined) => Effect.Effect<LedgerReport, Refusal<"TRY_AGAIN">>
  /**
   * The hash chain with its rows as JSON lines. Streamed with back-pressure and without a transaction, since rows of the chain are immutable. One at a
   * time, beside a verification; ends without its last line when the reader takes nothing for a while ({@link ExportPatience}).
   */
  readonly exported: (operatorId: number | undefined) => Effect.Effect<Stream.Stream<string>, Refusal<"TRY_AGAIN">>
}>()("pitboss/ledger/LedgerAudit") {
  static readonly layer = Layer.effect(
    LedgerAudit,
    Effect.gen(function*() {
      const sql = yield* ReportClient
      const ends = yield* RememberedEnds
      const chainKey = yield* ChainKey
      const turn = yield* Semaphore.make(1)
      // apart: an export lasts as long as its reader takes
      const exportTurn = yield* Semaphore.make(1)
      const patienceMs = yield* ExportPatience

      /** One snapshot for all checks, for as long as they take. */
      const readOnly = Effect.provideService(
        SqlClient.BeginTransaction,
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
      )
      const withoutBounds = Effect.gen(function*() {
        // a session waits for the other in its transaction; `transaction_timeout` exists since PostgreSQL 17
        yield* sql`SELECT set_config(name, '0', true) FROM pg_settings
          WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`
        // hash tables in several batches, each within the processor's cache, are faster than one of all rows
        yield* sql`SET LOCAL work_mem = '8MB'`
      })
      /** Id of the snapshot for a second session; none inside another transaction, whose rows are visible to its own session only. */
      const shareSnapshot = Effect.flatMap(
        Effect.serviceOption(sql.transactionService),
        Option.match({
          onSome: ([, depth]) =>
            depth > 0 ? Effect.succeed([]) : snapshotRows(sql`SELECT pg_export_snapshot() AS snapshot`),
          onNone: () => Effect.succeed([])
        })
      )
      /** Runs checks in a session of their own, beside the one that shared its snapshot. */
      const inSnapshot = <A, E>(snapshot: string, checks: Effect.Effect<A, E>) =>
        inTransaction(sql)(Effect.gen(function*() {
          yield* Effect.mapError(sql.unsafe(`SET TRANSACTION SNAPSHOT '${snapshot}'`), () => notShared)
          yield* withoutBounds
          return yield* checks
        })).pipe(
          Effect.updateContext((context: Context.Context<never>) => Context.omit(sql.transactionService)(context))
        )

      /** Verifies the hash chain and its rows. `remembered`: its ends, as this process has seen and written them. */
      const checkChain = Effect.fnUntraced(
        function*(operatorId: number | undefined, remembered: LedgerEnds) {
          const check = new ChainCheck()
          yield* walkChain(
            { sql, operatorId, ...chainKey, onlyWrong: true },
            Effect.fnUntraced(function*(parts) {
              for (const [index, part] of parts.entries()) {
                check.take(part)
                // bets are decided on the same thread
                if (index % partsPerSlice === partsPerSlice - 1) yield* Effect.yieldNow
              }
            })
          )
          for (const { message, rule, subject } of yield* ends.compare(sql, remembered)) {
            check.find(rule, subject, message)
          }
          return check
        }
      )

      const verifyAlone = Effect.fn("LedgerAudit.verify")(function*(operatorId: number | undefined) {
        // takes an end that two persons have accepted on another node
        yield* orTryAgain(ends.look)
        const remembered = ends.current()
        const waiting = invariants.map((invariant, index) => ({ invariant, index }))
          .sort((one, other) => (other.invariant.seconds ?? 0) - (one.invariant.seconds ?? 0))
        const violations = invariants.map((): ReadonlyArray<Violation> => [])
        /** Checks, one after another, the invariants that no session has begun to check. */
        const checkWaiting = Effect.gen(function*() {
          // Whole tables are read from front to back and joined by hashes. The planner would rather follow an index, which
          // means a jump for every entry of a table in another order, and it would go through one table once for every row of
          // another where both grew since it last looked at them.
          for (const way of jumps) yield* sql.unsafe(`SET LOCAL enable_${way} = off`)
          for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
            violations[next.index] = yield* violationRows(
              sql.unsafe(forOperator(statementOf(next.invariant), operatorId))
            )
          }
        })
        const checkHere = Effect.gen(function*() {
          const counted = yield* countRows(sql.unsafe(
            forOperator(
              `SELECT (SELECT count(*) FROM accounts WHERE $operator)::float8 AS players,
                (SELECT count(*) FROM ledger_entries WHERE $operator)::float8 AS entries`,
              operatorId
            )
          ))
          // read page by page, by indexes: before the statements that read whole tables
          const wrongOutcomes = yield* findWrongOutcomes(sql, forOperator("$operator", operatorId))
          const chained = yield* checkChain(operatorId, remembered)
          const [unlinked] = yield* unlinkedRows(sql.unsafe(forOperator(countUnlinked, operatorId)))
          yield* checkWaiting
          return { counted, wrongOutcomes, chained, unlinked }
        })
        return yield* inTransaction(sql)(Effect.gen(function*() {
          const shared = yield* shareSnapshot
          yield* withoutBounds
          const [{ chained, counted, unlinked, wrongOutcomes }] = yield* Effect.all(
            [checkHere, ...shared.map(({ snapshot }) => inSnapshot(snapshot, checkWaiting))],
            { concurrency: "unbounded" }
          )
          return {
            players: counted[0]?.players ?? 0,
            entries: counted[0]?.entries ?? 0,
            violations: [
              ...violations.flat().sort((one, other) => order.indexOf(one.rule) - order.indexOf(other.rule)),
              ...wrongOutcomes,
              ...chained.findings.map(({ message, playerId, rule, subject }) => ({
                rule,
                player_id: playerId === null ? null : Number(playerId),
                subject,
                message
              }))
            ],
            links: chained.links,
            not_yet_linked: unlinked?.rows ?? 0,
            seals: chained.seals,
            last_seal_hash: chained.seals === 0 ? null : chained.lastHash
          }
        })).pipe(readOnly, orTryAgain)
      })

      const verify: LedgerAudit["Service"]["verify"] = (operatorId) =>
        Effect.flatMap(
          turn.withPermitsIfAvailable(1)(verifyAlone(operatorId)),
          Option.match({
            onNone: () => Effect.fail(busy),
            onSome: Effect.succeed
          })
        )

      const exportedTo = Effect.fnUntraced(function*(
        operatorId: number | undefined,
        write: (text: string) => Effect.Effect<void, Refusal<"TRY_AGAIN">>
      ) {
        const writer = new ExportWriter()
        yield* write(`${headLine(operatorId)}\n`)
        yield* walkChain(
          { sql, operatorId, ...chainKey },
          (parts) => parts.length === 0 ? Effect.void : write(parts.map((part) => `${writer.linesOf(part)}\n`).join(""))
        )
        const { added, unlinked } = yield* inTransaction(sql)(Effect.gen(function*() {
          yield* sql`SET LOCAL statement_timeout = 0`
          const added = yield* Effect.forEach(
            chainInvariants.filter(({ rule }) => rule === "chain_row_added"),
            (invariant) => violationRows(sql.unsafe(forOperator(statementOf(invariant), operatorId)))
          )
          const [unlinked] = yield* unlinkedRows(sql.unsafe(forOperator(countUnlinked, operatorId)))
          return { added, unlinked }
        }))
        yield* write(`${endLine(added.flat().map(({ subject }) => subject), unlinked?.rows ?? 0)}\n`)
      })

      const exported: LedgerAudit["Service"]["exported"] = (operatorId) =>
        Effect.sync(() =>
          Stream.callback<string>(
            (queue) =>
              exportTurn.withPermits(1)(
                exportedTo(operatorId, (text) =>
                  Queue.offer(queue, text).pipe(
                    Effect.timeoutOrElse({ duration: patienceMs, orElse: () => Effect.fail(notTaken) }),
                    Effect.asVoid
                  ))
              ).pipe(
                orTryAgain,
                // the last line is missing then, and the check of the export finds that
                Effect.catch((refusal) =>
                  refusal === notTaken ? Effect.logWarning("ledger export not taken") : Effect.void
                ),
                Effect.andThen(Queue.end(queue))
              ),
            { bufferSize: 4, strategy: "suspend" }
          )
        )

      return LedgerAudit.of({ verify, exported })
    })
  )
}
