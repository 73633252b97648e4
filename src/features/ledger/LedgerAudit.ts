/**
 * Verification of the ledger: every ledger invariant, checked over all tables in one snapshot.
 *
 * The statements (LedgerInvariants.ts) share no code with the journal whose rows they check, so that a defect there cannot hide here. They read a
 * snapshot in two sessions, block no writer, and use two processors at most.
 */
import { Clock, Context, Effect, Equal, Layer, Metric, Option, Queue, Schema, Semaphore, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { ChainKey } from "../../chain/Chain.ts"
import { ChainCheck } from "../../chain/ChainCheck.ts"
import { type LedgerEnds, RememberedEnds } from "../../chain/Ends.ts"
import { startAfter, walkChain } from "../../chain/ChainWalk.ts"
import { endLine, ExportWriter, headLine } from "../../chain/ExportLines.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { ReportClient } from "../../platform/Database.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { iso } from "../../platform/Time.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import {
  inScope,
  type LedgerInvariant,
  maxViolations,
  type VerificationScope,
  type Violation
} from "./LedgerInvariant.ts"
import { chainInvariants, rowSums } from "./ChainInvariants.ts"
import { ledgerInvariants } from "./LedgerInvariants.ts"
import { findWrongOutcomes, originalInvariants } from "./OriginalsAudit.ts"
import { registerInvariants } from "./RegisterInvariants.ts"
import { reportInvariants } from "./ReportInvariants.ts"
import { transactionInvariants } from "./TransactionInvariants.ts"
import { auditUpTo, forgetVerified, keepVerified, readVerified } from "./VerifiedLedger.ts"

export interface LedgerReport {
  readonly players: number
  readonly entries: number
  readonly violations: ReadonlyArray<Violation>
  /** Commits in the chain of hashes. */
  readonly links: number
  readonly seals: number
  /** The hash of the last seal; null before the first. */
  readonly last_seal_hash: string | null
  /** The seal after which it verified, and when that was made, ISO; null where it verified everything. */
  readonly after_seal: number | null
  readonly since: string | null
}

const violationsFound = Metric.gauge("ledger_violations", {
  description: "Violations found by the last verification of all ledgers at this process"
})
const verifiedAt = Metric.gauge("ledger_verified_timestamp_seconds", {
  description: "Time of the last verification of all ledgers at this process, Unix time"
})
const whollyVerifiedAt = Metric.gauge("ledger_wholly_verified_timestamp_seconds", {
  description:
    "Time of the last sound verification of everything, as the last verification at this process knew it, Unix time"
})

const violationRows = rowsOf(Schema.Struct({
  rule: Schema.String,
  player_id: Schema.NullOr(Schema.Number),
  subject: Schema.String,
  message: Schema.String
}))
const snapshotRows = rowsOf(Schema.Struct({ snapshot: Schema.String }))
const RowSum = Schema.Struct({ sum: Schema.String, rows: Schema.Number })
type RowSum = typeof RowSum.Type
const sumRows = rowsOf(RowSum)
const countRows = rowsOf(Schema.Struct({ players: Schema.Number, entries: Schema.Number }))

const invariants: ReadonlyArray<LedgerInvariant> = [
  ...ledgerInvariants,
  ...transactionInvariants,
  ...originalInvariants,
  ...reportInvariants,
  ...registerInvariants,
  ...chainInvariants
]

/** The rules in the order in which their violations are reported. */
const order = [...new Set(invariants.flatMap(({ rule }) => rule))]

const rowAdded = "chain_row_added"
const rowsAdded = invariants.filter(({ rule }) => rule === rowAdded)

/** The violations of an invariant: of each rule the first hundred. */
const statementOf = ({ rule }: LedgerInvariant, statement: string): string =>
  typeof rule === "string"
    ? `SELECT '${rule}' AS rule, player_id, subject, message FROM (${statement}) found LIMIT ${maxViolations}`
    : `SELECT rule, player_id, subject, message
        FROM (SELECT *, row_number() OVER (PARTITION BY rule) AS place FROM (${statement}) found) numbered
        WHERE place <= ${maxViolations}`

/** Plan types disabled while whole tables are read. */
const jumps = ["indexscan", "indexonlyscan", "bitmapscan", "nestloop", "mergejoin"]

/** And while what is new is: it is found by indexes, and its statements say where a key is to be looked up. */
const loops = ["nestloop", "mergejoin"]

const verifiedRecordChanged: Violation = {
  rule: "verified_record_changed",
  player_id: null,
  subject: "ledger verification",
  message: "the stored result of the last verification was changed since: everything was verified again"
}

/** What sums find alone, such as an audit line that is stored twice. */
const differInSum: Violation = {
  rule: rowAdded,
  player_id: null,
  subject: "ledger entries and audit lines",
  message:
    "are not those of the links of the chain, although each is in one as it was written: some are stored more than once"
}

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

const notTaken = refuse("TRY_AGAIN", "The export was aborted: the client stopped reading.")

const busy = refuse("TRY_AGAIN", "A verification of the ledger is running. Try again when it has ended.")

export class LedgerAudit extends Context.Service<LedgerAudit, {
  /**
   * Checks the ledgers of one operator or, with undefined, all. `everything` takes as long as reading the tables a few times; `new` goes on from the last
   * sound verification of all ledgers. One at a time: each takes two processors of PostgreSQL's to its end.
   */
  readonly verify: (
    operatorId: number | undefined,
    extent?: "everything" | "new"
  ) => Effect.Effect<LedgerReport, Refusal<"TRY_AGAIN">>
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
      // what is kept is written at the priority of other writes: a session that waits for a processor would hold locks that commits need
      const writer = yield* SqlClient.SqlClient
      const entropy = yield* Entropy
      const ends = yield* RememberedEnds
      const chainKey = yield* ChainKey
      // Kept: turn, exportTurn. One verification at a time, for PostgreSQL's sake. Several nodes: its own: as many as nodes, each on its own
      // connections.
      const turn = yield* Semaphore.make(1)
      // apart: an export lasts as long as its reader takes
      const exportTurn = yield* Semaphore.make(1)
      const patienceMs = yield* ExportPatience

      /** One snapshot for all checks, for as long as they take. */
      const readOnly = Effect.provideService(
        SqlClient.BeginTransaction,
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
      )
      // a session waits for the other in its transaction; `transaction_timeout` exists since PostgreSQL 17
      const withoutBounds = (client: SqlClient.SqlClient) =>
        client`SELECT set_config(name, '0', true) FROM pg_settings
          WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`
      const forChecks = Effect.gen(function*() {
        yield* withoutBounds(sql)
        yield* sql`SET LOCAL jit = off`
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
      /** Runs an effect in a transaction of its own, beside the open one. */
      const apart = <A, E>(client: SqlClient.SqlClient, effect: Effect.Effect<A, E>) =>
        inTransaction(client)(effect).pipe(
          Effect.updateContext((context: Context.Context<never>) =>
            Context.omit(sql.transactionService, client.transactionService)(context)
          )
        )
      const inSnapshot = <A, E>(client: SqlClient.SqlClient, snapshot: string, effect: Effect.Effect<A, E>) =>
        apart(
          client,
          Effect.andThen(
            Effect.mapError(client.unsafe(`SET TRANSACTION SNAPSHOT '${snapshot}'`), () => notShared),
            effect
          )
        )

      /** Verifies the hash chain and its rows. `remembered`: its ends, as this process has seen and written them. */
      const checkChain = Effect.fnUntraced(
        function*({ operatorId, until }: VerificationScope, remembered: LedgerEnds, rows: "wrong" | "none") {
          const begin = until === undefined ? undefined : yield* startAfter(sql, until.seal)
          const check = new ChainCheck(begin?.start)
          for (const { message, rule, subject } of begin?.broken ?? []) check.find(rule, subject, message)
          yield* walkChain(
            { sql, operatorId, ...chainKey, rows, start: begin?.start },
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
          if (until !== undefined && operatorId === undefined) {
            const { lines, sum } = yield* auditUpTo(sql, chainKey.key, until.seal)
            if (lines !== until.audit.lines || sum !== until.audit.sum) {
              check.find(
                lines < until.audit.lines ? "chain_row_removed" : "chain_row_added",
                "audit log",
                `has other lines than those verified and those in links since: ${lines} instead of ${until.audit.lines} of before`
              )
            }
          }
          return check
        }
      )

      /** Finds rows by their keys, after statements that read whole tables. */
      const withIndexes = <A, E>(effect: Effect.Effect<A, E>) =>
        Effect.andThen(
          Effect.forEach(jumps, (way) => sql.unsafe(`SET LOCAL enable_${way} = on`), { discard: true }),
          effect
        )

      /** Keeps what was found for the next verification, or has it verify everything. */
      const remember = Effect.fnUntraced(
        function*(snapshot: string, report: LedgerReport, { operatorId, until }: VerificationScope, at: number) {
          const { last_seal_hash: sealHash, seals, violations } = report
          if (violations.length > 0) return yield* apart(writer, forgetVerified(writer, chainKey.key, at))
          if (operatorId !== undefined || sealHash === null) return
          const whollyAt = yield* inSnapshot(
            writer,
            snapshot,
            Effect.andThen(
              withoutBounds(writer),
              keepVerified(writer, chainKey.key, { at, isWhole: until === undefined, seal: seals, sealHash })
            )
          )
          yield* Metric.update(whollyVerifiedAt, whollyAt / 1000)
        },
        Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL REPEATABLE READ"),
        // another node's verification was faster, or the database failed: the next one verifies more
        Effect.catch((error) =>
          Effect.annotateLogs(Effect.logWarning("ledger verification result was not stored"), { reason: error.message })
        )
      )

      const verifyAlone = Effect.fn("LedgerAudit.verify")(
        function*(operatorId: number | undefined, extent: "everything" | "new") {
          // takes an end that two persons have accepted on another node
          yield* orTryAgain(ends.look)
          const remembered = ends.current()
          const seed = new DataView(entropy.bytes(8).slice().buffer).getBigInt64(0)
          const violations = new Map<LedgerInvariant, ReadonlyArray<Violation>>()
          const check = Effect.fnUntraced(function*(invariant: LedgerInvariant, scope: VerificationScope) {
            const text = scope.until === undefined || invariant.incremental === undefined
              ? invariant.statement
              : invariant.incremental
            if (text === null) return
            violations.set(invariant, yield* violationRows(sql.unsafe(inScope(statementOf(invariant, text), scope))))
          })
          const sums: { stored?: RowSum; linked?: RowSum } = {}
          const addUp = Effect.fnUntraced(function*(side: "stored" | "linked") {
            const [sum] = yield* sumRows(sql.unsafe(rowSums[side].replaceAll("$seed", `'${seed}'::bigint`)))
            if (sum !== undefined) sums[side] = sum
          })
          /** Whether rows are compared with their links by sums, all at once. */
          const isSummed = ({ operatorId, until }: VerificationScope) => operatorId === undefined && until === undefined
          const waitingIn = (scope: VerificationScope) =>
            [
              ...invariants.flatMap((invariant) =>
                isSummed(scope) && invariant.rule === rowAdded
                  ? []
                  : [{ seconds: invariant.seconds ?? 0, run: check(invariant, scope) }]
              ),
              ...isSummed(scope)
                ? [{ seconds: 60, run: addUp("stored") }, { seconds: 15, run: addUp("linked") }]
                : []
            ].sort((one, other) => other.seconds - one.seconds)
          /** Checks, one after another, the invariants that no session has begun to check. */
          const checkWaiting = Effect.fnUntraced(
            function*(scope: VerificationScope, waiting: ReturnType<typeof waitingIn>) {
              // Whole tables are read from front to back and joined by hashes. The planner would rather follow an index, which
              // means a jump for every entry of a table in another order, and it would go through one table once for every row of
              // another where both grew since it last looked at them.
              for (const way of scope.until === undefined ? jumps : loops) {
                yield* sql.unsafe(`SET LOCAL enable_${way} = off`)
              }
              for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) yield* next.run
            }
          )
          const checkHere = Effect.fnUntraced(
            function*(scope: VerificationScope, waiting: ReturnType<typeof waitingIn>) {
              const counted = yield* countRows(sql.unsafe(
                inScope(
                  scope.until === undefined
                    ? `SELECT (SELECT count(*) FROM accounts WHERE $operator)::float8 AS players,
                    (SELECT count(*) FROM ledger_entries WHERE $operator)::float8 AS entries`
                    // each account is compared with its ledger
                    : `SELECT count(*)::float8 AS players, coalesce(sum(entry_seq), 0)::float8 AS entries FROM accounts WHERE $operator`,
                  scope
                )
              ))
              // read page by page, by indexes: before the statements that read whole tables
              const wrongOutcomes = yield* findWrongOutcomes(sql, scope)
              const chained = yield* checkChain(scope, remembered, isSummed(scope) ? "none" : "wrong")
              yield* checkWaiting(scope, waiting)
              return { counted, wrongOutcomes, chained }
            }
          )
          return yield* inTransaction(sql)(Effect.gen(function*() {
            const at = yield* Clock.currentTimeMillis
            const shared = yield* shareSnapshot
            yield* forChecks
            const verified = extent === "new" ? yield* readVerified(sql, chainKey.key) : { _tag: "Nothing" } as const
            const scope = { operatorId, until: verified._tag === "Until" ? verified.until : undefined }
            const waiting = waitingIn(scope)
            const [{ chained: linked, counted, wrongOutcomes }] = yield* Effect.all(
              [
                checkHere(scope, waiting),
                ...shared.map(({ snapshot }) =>
                  inSnapshot(sql, snapshot, Effect.andThen(forChecks, checkWaiting(scope, waiting)))
                )
              ],
              { concurrency: "unbounded" }
            )
            const isEqual = !isSummed(scope) || Equal.equals(sums.stored, sums.linked)
            // which rows it is takes a look-up for each
            if (!isEqual) yield* Effect.forEach(rowsAdded, (invariant) => check(invariant, scope), { discard: true })
            const chained = isEqual ? linked : yield* withIndexes(checkChain(scope, remembered, "wrong"))
            const isExplained = isEqual || chained.findings.length > 0 ||
              rowsAdded.some((invariant) => (violations.get(invariant) ?? []).length > 0)
            const report: LedgerReport = {
              players: counted[0]?.players ?? 0,
              entries: counted[0]?.entries ?? 0,
              violations: [
                ...[...violations.values()].flat().sort((one, other) =>
                  order.indexOf(one.rule) - order.indexOf(other.rule)
                ),
                ...wrongOutcomes,
                ...chained.findings.map(({ message, playerId, rule, subject }) => ({
                  rule,
                  player_id: playerId === null ? null : Number(playerId),
                  subject,
                  message
                })),
                ...isExplained ? [] : [differInSum],
                ...verified._tag === "Changed" ? [verifiedRecordChanged] : []
              ],
              links: chained.links,
              seals: chained.seals,
              last_seal_hash: chained.seals === 0 ? null : chained.lastHash,
              after_seal: scope.until?.seal ?? null,
              since: verified._tag === "Until" ? iso(verified.sealedAt) : null
            }
            yield* Effect.forEach(shared, ({ snapshot }) => remember(snapshot, report, scope, at), { discard: true })
            return report
          })).pipe(readOnly, orTryAgain)
        }
      )

      const tell = Effect.fnUntraced(function*(found: number) {
        yield* Metric.update(violationsFound, found)
        yield* Metric.update(verifiedAt, (yield* Clock.currentTimeMillis) / 1000)
      })

      const verify: LedgerAudit["Service"]["verify"] = (operatorId, extent = "everything") =>
        Effect.flatMap(
          turn.withPermitsIfAvailable(1)(verifyAlone(operatorId, extent)),
          Option.match({
            onNone: () => Effect.fail(busy),
            onSome: Effect.succeed
          })
        ).pipe(Effect.tap(({ violations }) => operatorId === undefined ? tell(violations.length) : Effect.void))

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
        const scope = { operatorId, until: undefined }
        const added = yield* inTransaction(sql)(Effect.andThen(
          sql`SET LOCAL statement_timeout = 0`,
          Effect.forEach(
            rowsAdded,
            (invariant) => violationRows(sql.unsafe(inScope(statementOf(invariant, invariant.statement), scope)))
          )
        ))
        yield* write(`${endLine(added.flat().map(({ subject }) => subject))}\n`)
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
                  refusal === notTaken
                    ? Effect.logWarning("ledger export aborted: the client stopped reading")
                    : Effect.void
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
