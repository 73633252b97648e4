/** PostgreSQL store of players for the engine: load, look up, commit. */
import { Cause, Effect, Exit, Option } from "effect"
import { type SqlError } from "effect/sql"
import { Chain, type ChainPosition } from "../../chain/Chain.ts"
import type { Change } from "../../domain/state/Change.ts"
import type { Knowledge } from "../../domain/state/Decision.ts"
import type { Player } from "../../domain/state/Player.ts"
import type { Query } from "../../domain/state/Rounds.ts"
import { type CommitFailure, OutcomeUnknown, StoreUnavailable } from "../../engine/Failures.ts"
import type { Store, Verdict } from "../../engine/Machine.ts"
import { describeSqlError, JournalClient, ServingClient } from "../../platform/Database.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { makeLogThrottle } from "../../platform/LogThrottle.ts"
import { makeBatches } from "../Batches.ts"
import { OperatorClocks } from "../OperatorClocks.ts"
import { Outbox } from "../Outbox.ts"
import { isCausedByOneRow } from "../Rows.ts"
import { commitStatement, emptyStatements } from "./CommitStatement.ts"
import { claims } from "./Claims.ts"
import { CommittedIds } from "./CommittedIds.ts"
import { fencePlayers, loadPlayers } from "./PlayerLoad.ts"
import { type LookUpRequest, makeLookUp } from "./PlayerLookups.ts"
import { examineUnits } from "./RejectedUnits.ts"
import {
  commitFailure,
  noAnswer,
  type ReadFailure,
  toUnavailable,
  unresponsive,
  withDeadline
} from "./StoreFailures.ts"

const throttleMs = 5000

const valid: Verdict<Knowledge> = { _tag: "Valid" }

/** Maximum players named in a log line about a commit. */
const maxLoggedPlayers = 20

export type PlayerStore = Store<Player, Change, Query, Knowledge>

/**
 * Remembers the transaction ids that a store wrote, may have written, or found, and calls a change with one of them likely to clash, and any
 * transaction of a player who was loaded for it: after a restart, callers repeat what was not answered (`docs/decisions/0055-likely-taken-ids.md`).
 */
export const withCommittedIds = (
  store: Omit<PlayerStore, "isLikelyTaken">,
  committedIds: CommittedIds
): PlayerStore => {
  const addFound = ({ transactions }: Knowledge) =>
    Effect.sync(() => {
      for (const transaction of transactions.values()) if (transaction !== null) committedIds.add(transaction)
    })
  return {
    ...store,
    commit: (units) => {
      const remember = Effect.sync(() => {
        for (const { changes } of units) {
          for (const { transactions } of changes) for (const id of transactions) committedIds.add(id)
        }
      })
      return store.commit(units).pipe(
        Effect.tap(remember),
        // the callers repeat what may have been written
        Effect.tapError(({ _tag }) => _tag === "OutcomeUnknown" ? remember : Effect.void)
      )
    },
    lookUp: (player, query, known) => Effect.tap(store.lookUp(player, query, known), addFound),
    examine: (units, because) =>
      Effect.tap(store.examine(units, because), (verdicts) =>
        Effect.forEach(
          verdicts.flatMap((verdict) => verdict._tag === "Clash" ? verdict.known : []),
          addFound,
          { discard: true }
        )),
    isLikelyTaken: ({ transactions }, isLoaded) => transactions.some((id) => isLoaded || committedIds.has(id))
  }
}

/** Store of players: commits and fences on the journal's connections, reads on the serving ones. */
export const makePlayerStore = Effect.gen(function*() {
  const journal = yield* JournalClient
  const sql = yield* ServingClient
  const { seal } = yield* Secrets
  const personal = yield* PersonalData
  const find = makeLookUp(sql, personal)
  const examine = examineUnits(sql, find)
  const batched = <Request, A>(
    answer: (requests: ReadonlyArray<Request>) => Effect.Effect<ReadonlyArray<A>, ReadFailure>
  ) =>
    Effect.map(
      makeBatches<Request, A, ReadFailure>({
        // more rows at once would block the thread for milliseconds
        maxBatch: 100,
        maxRunning: 2,
        mayBeCausedByOne: (cause) => Option.exists(Cause.findErrorOption(cause), isCausedByOneRow),
        run: (requests) => Effect.map(withDeadline(answer(requests), noAnswer), (answers) => answers.map(Exit.succeed))
      }),
      ({ put }) => (request: Request) => Effect.suspend(() => put(request))
    )
  const loadBatched = yield* batched(loadPlayers(sql))
  const lookUpBatched = yield* batched((requests: ReadonlyArray<LookUpRequest>) => find(requests))
  // on the journal's connections, not those of reads: a fence hangs only when a commit does
  const fenceBatched = yield* batched(fencePlayers(journal))
  const chain = yield* Chain
  const clocks = yield* OperatorClocks
  /** Lines of the audit log are dated by the real clock. */
  const salted: typeof chain.salted = (line) => chain.salted({ ...line, at: clocks.realOf(line.operatorId, line.at) })
  const outbox = yield* Outbox
  const throttleCommits = yield* makeLogThrottle(throttleMs)
  const throttleReads = yield* makeLogThrottle(throttleMs)
  // Kept: committedIds. Fingerprints of transaction ids probably committed. Several nodes: its own: an id that another node committed is refused by
  // the unique index.
  const committedIds = new CommittedIds()

  /** Throttled: while the database is broken every command fails. */
  const warnFailed = (failure: CommitFailure, units: ReadonlyArray<{ readonly key: number }>) =>
    failure._tag === "Rejected" ?
      Effect.void :
      throttleCommits((others) =>
        Effect.logWarning("commit failed").pipe(Effect.annotateLogs({
          reason: failure.reason,
          player_ids: units.slice(0, maxLoggedPlayers).map(({ key }) => key),
          others
        }))
      )

  const warnUnread = (playerId: number) => ({ reason }: StoreUnavailable) =>
    throttleReads((others) =>
      Effect.logWarning("player load failed").pipe(
        Effect.annotateLogs({ reason, player_id: playerId, others })
      )
    )

  const pending = Effect.fail(new StoreUnavailable({ reason: "a commit of unknown outcome holds the row" }))

  const load: PlayerStore["load"] = (key, fence) =>
    (fence
      ? Effect.flatMap(fenceBatched(key), (isFenced) =>
        isFenced
          ? loadBatched(key)
          // the row is locked, or does not exist
          : Effect.flatMap(loadBatched(key), (found) => found.loaded === undefined ? Effect.succeed(found) : pending))
      : loadBatched(key))
      .pipe(Effect.map(({ loaded }) => loaded), Effect.mapError(toUnavailable), Effect.tapError(warnUnread(key)))

  const lookUp: PlayerStore["lookUp"] = (player, query, known) =>
    lookUpBatched({ player, query, known }).pipe(Effect.mapError(toUnavailable), Effect.tapError(warnUnread(player.id)))

  // Kept: end. End of the chain of hashes that this process writes. Several nodes: its own: every process has a chain of its own.
  /** End of the chain; undefined when a new chain has to be begun. Commits are sequential. */
  let end: ChainPosition | undefined

  const begin = withDeadline(chain.begin(journal), noAnswer).pipe(
    Effect.catchTag("SqlError", (error) => Effect.fail(new StoreUnavailable({ reason: describeSqlError(error) })))
  )

  /** Not `journal.unsafe`: its compiler keeps the parameters of each statement beyond the next collection of V8's young generation. */
  const execute = (text: string, parameters: ReadonlyArray<unknown>) =>
    Effect.useSpan(
      "postgresql",
      { kind: "client", attributes: { "db.system.name": "postgresql" } },
      () => Effect.scoped(Effect.flatMap(journal.reserve, (connection) => connection.executeValues(text, parameters)))
    )

  const write = (units: Parameters<typeof commitStatement>[0]) =>
    Effect.flatMap(end === undefined ? begin : Effect.succeed(end), (after) => {
      end = after
      const { hasEvents, link, parameters, text } = commitStatement(
        units,
        { seal, personal, salted },
        (rows) => chain.nextLink(after, rows)
      )
      const written = withDeadline(
        execute(text, parameters),
        () => new OutcomeUnknown({ reason: unresponsive })
      )
      return link === undefined && !hasEvents ? written : Effect.tap(written, () =>
        Effect.sync(() => {
          if (link !== undefined) {
            end = { chainId: link.chainId, link: link.link, hash: link.hash }
            chain.setPosition(end)
          }
          if (hasEvents) outbox.announce()
        }))
    })

  const commit: PlayerStore["commit"] = (units) =>
    Effect.suspend(() => write(units)).pipe(
      Effect.asVoid,
      Effect.catchCause((cause) => {
        const failure = Exit.findErrorOption(Exit.failCause(cause))
        return failure._tag === "Some"
          ? Effect.fail(failure.value._tag === "SqlError" ? failureOf(failure.value) : failure.value)
          : Effect.andThen(
            Effect.logError("commit outcome unknown after a defect", cause),
            Effect.fail(new OutcomeUnknown({ reason: Cause.pretty(cause) }))
          )
      }),
      Effect.tapError((failure) => {
        // the link may be missing or another writer's: the next one must not refer to it
        if (failure._tag !== "Rejected") end = undefined
        return warnFailed(failure, units)
      })
    )

  // planned before the first bet: planning takes tens of milliseconds in the only commit lane
  yield* Effect.ignore(
    Effect.forEach(
      emptyStatements({ seal, personal, salted }),
      ({ parameters, text }) => journal.unsafe(text, parameters)
    )
  )

  return withCommittedIds({
    load,
    lookUp,
    commit,
    examine: (units, because) =>
      withDeadline(examine(units, because), noAnswer).pipe(
        // the stored row of one unit is unreadable: the batch is divided, so that only that one fails
        Effect.catchIf((failure) => units.length > 1 && isCausedByOneRow(failure), () =>
          Effect.succeed(units.map(() => valid))),
        Effect.mapError(toUnavailable)
      ),
    claims
  }, committedIds)
})

/** An existing link belongs to another writer of the chain: no unit is rejected, and a new chain is begun. */
const failureOf = (error: SqlError.SqlError): CommitFailure =>
  error.reason._tag === "UniqueViolation" && error.reason.constraint === "chain_links_pkey"
    ? new StoreUnavailable({ reason: describeSqlError(error) })
    : commitFailure(error)
