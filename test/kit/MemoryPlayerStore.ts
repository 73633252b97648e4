/**
 * Player store in memory with the guarantees of the PostgreSQL one: versions fence, ids stay unique, a
 * commit is atomic, and a loaded player carries no rounds and no messages. For tests and simulations, which
 * inject faults and delays around its operations.
 */
import { Effect } from "effect"
import type { Birth } from "../../src/domain/state/Birth.ts"
import type { PlayerBonus } from "../../src/domain/state/Bonus.ts"
import type {
  AuditRecord,
  Change,
  EndedSession,
  Entry,
  Event,
  GameSession,
  OriginalRound,
  Payment,
  PlayerNote,
  PlayerSettings,
  Redemption
} from "../../src/domain/state/Change.ts"
import type { Knowledge } from "../../src/domain/state/Decision.ts"
import type { StoredReply } from "../../src/domain/state/Idempotency.ts"
import type { PlayerSeeds, SeedChange } from "../../src/domain/state/PlayerSeeds.ts"
import type { Player } from "../../src/domain/state/Player.ts"
import { emptyRecent } from "../../src/domain/state/Recent.ts"
import { type Query, type Round, roundKey, type Transaction } from "../../src/domain/state/Rounds.ts"
import type { AcceptedSignature } from "../../src/domain/state/AcceptedSignature.ts"
import { type CommitFailure, Rejected, type StoreUnavailable } from "../../src/engine/Failures.ts"
import type { Loaded, Unit, Verdict } from "../../src/engine/Machine.ts"
import { mergeSeeds } from "../../src/store/internal/OriginalSections.ts"
import { birthKey, bornNames, claims, judgeClashes, replyKey } from "../../src/store/internal/Claims.ts"
import { isBirth } from "../../src/store/internal/CommitRows.ts"
import { CommittedIds } from "../../src/store/internal/CommittedIds.ts"
import { type PlayerStore, withCommittedIds } from "../../src/store/internal/PlayerStore.ts"
import { type PlayersRow, RatePairs, reportRows, type SumsRow } from "../../src/store/internal/ReportSections.ts"

/**
 * Wrappers of the store's operations. Each receives the operation as an effect that takes no time and cannot be
 * interrupted, and may delay it, fail before it (nothing was written), fail after it (unknown outcome), or run it
 * after failing (a commit that arrives late).
 */
export interface Around {
  readonly load: (
    run: Effect.Effect<Loaded<Player> | undefined>,
    playerId: number,
    fence: boolean
  ) => Effect.Effect<Loaded<Player> | undefined, StoreUnavailable>
  readonly lookUp: (run: Effect.Effect<Knowledge>, query: Query) => Effect.Effect<Knowledge, StoreUnavailable>
  readonly examine: (
    run: Effect.Effect<ReadonlyArray<Verdict<Knowledge>>>,
    units: ReadonlyArray<Unit<Player, Change>>
  ) => Effect.Effect<ReadonlyArray<Verdict<Knowledge>>, StoreUnavailable>
  readonly commit: (
    run: Effect.Effect<void, Rejected>,
    units: ReadonlyArray<Unit<Player, Change>>
  ) => Effect.Effect<void, CommitFailure>
}

/** Rows in the order of writing. */
interface Tables {
  readonly players: ReadonlyMap<number, Loaded<Player>>
  readonly entries: ReadonlyArray<Entry>
  readonly transactions: ReadonlyArray<Transaction>
  /** By player, then by `roundKey`. */
  readonly rounds: ReadonlyMap<number, ReadonlyMap<string, Round>>
  readonly payments: ReadonlyArray<Payment>
  /** By id. */
  readonly bonuses: ReadonlyMap<number, PlayerBonus>
  readonly redemptions: ReadonlyArray<Redemption>
  readonly originalRounds: ReadonlyArray<OriginalRound>
  readonly seeds: ReadonlyArray<SeedChange>
  readonly sessions: ReadonlyArray<StoredSession>
  readonly events: ReadonlyArray<Event>
  readonly audit: ReadonlyArray<AuditRecord>
  readonly notes: ReadonlyArray<PlayerNote>
  readonly replies: ReadonlyArray<StoredReply>
  readonly signatures: ReadonlyArray<AcceptedSignature>
  /** Report sums added by each commit. */
  readonly sums: ReadonlyArray<SumsRow>
  readonly visits: ReadonlyArray<PlayersRow>
}

export interface MemoryPlayerStore extends PlayerStore {
  /** Puts a player in, as registration does; one that is there already is left as it is. */
  readonly add: (player: Player) => Effect.Effect<void>
  /** Sets how often a promo code can be redeemed; one without a limit is redeemed without end. */
  readonly limitPromo: (promoCodeId: number, maxRedemptions: number) => void
  /** The answer kept under a key. */
  readonly findReply: (scope: string, key: string) => StoredReply | undefined
  /** Keeps an answer that comes without a commit of a player; false when its key has one. */
  readonly keepReply: (reply: StoredReply) => boolean
  /** Removes an answer. */
  readonly forgetReply: (reply: StoredReply) => void
  /** Current content of the store, read without `Around`. */
  readonly tables: () => Tables
}

/** A row set with its unique key. Rows under a key are replaced only by `set`; `insert` says whether the key was free. */
class Table<Row> {
  readonly rows = new Map<string, Row>()
  private readonly keyOf: (row: Row) => string

  constructor(keyOf: (row: Row) => string) {
    this.keyOf = keyOf
  }

  get(key: string): Row | undefined {
    return this.rows.get(key)
  }

  insert(row: Row): boolean {
    const key = this.keyOf(row)
    if (this.rows.has(key)) return false
    this.rows.set(key, row)
    return true
  }

  set(row: Row): void {
    this.rows.set(this.keyOf(row), row)
  }

  delete(row: Row): void {
    this.rows.delete(this.keyOf(row))
  }
}

/** `endedAt` is there once it was ended. */
interface StoredSession extends GameSession {
  readonly endedAt?: number
}

interface BonusRow {
  readonly playerId: number
  readonly bonus: PlayerBonus
}

interface RoundRow {
  readonly playerId: number
  readonly round: Round
}

const transactionKey = (providerId: number, transactionId: string): string => `${providerId} ${transactionId}`

/** A target is taken back once, and once more after each time that it was reinstated. */
const rollbackKey = (providerId: number, targetId: string, reinstated: number): string =>
  `${providerId} ${reinstated} ${targetId}`

const playerRoundKey = (playerId: number, gameId: number, roundId: string): string =>
  `${playerId} ${roundKey(gameId, roundId)}`

const isStandingRollback = (transaction: Transaction): boolean =>
  transaction.kind === "rollback" && transaction.status === "processed"

/** No setting changes. */
const noSettings: Partial<PlayerSettings> = {}

/** Adds found rows to known ones; a requested id without a row is known to be absent. */
const extend = <Key, A>(
  before: ReadonlyMap<Key, A | null> | undefined,
  asked: ReadonlyArray<Key>,
  find: (key: Key) => A | undefined
): ReadonlyMap<Key, A | null> =>
  new Map([...before ?? [], ...asked.map((key): [Key, A | null] => [key, find(key) ?? null])])

/** A player as loaded: without carried rounds and messages. */
export const asLoaded = (player: Player): Player => ({
  ...player,
  rounds: emptyRecent,
  transactions: emptyRecent,
  seeds: null
})

/** Makes an empty store. */
export const make = (around: Partial<Around> = {}): MemoryPlayerStore => {
  const players = new Map<number, Loaded<Player>>()
  const entries = new Table<Entry>(({ playerId, seq }) => `${playerId} ${seq}`)
  const transactions = new Table<Transaction>((row) => transactionKey(row.providerId, row.transactionId))
  const standingRollbacks = new Table<Transaction>((row) =>
    rollbackKey(row.providerId, row.targetId ?? "", row.wagered)
  )
  const rounds = new Table<RoundRow>(({ playerId, round }) => playerRoundKey(playerId, round.gameId, round.roundId))
  const payments = new Table<Payment>(({ id }) => `${id}`)
  const references = new Table<Payment>(({ externalReference, operatorId }) => `${operatorId} ${externalReference}`)
  const bonuses = new Table<BonusRow>(({ bonus, playerId }) => `${playerId} ${bonus.id}`)
  const redemptions = new Table<Redemption>(({ playerId, promoCodeId }) => `${promoCodeId} ${playerId}`)
  const originalRounds = new Table<OriginalRound>(({ id }) => `${id}`)
  const nonces = new Table<OriginalRound>(({ nonce, seedId }) => `${seedId} ${nonce}`)
  const seeds = new Table<SeedChange>(({ id }) => `${id}`)
  const seedHashes = new Table<SeedChange>(({ hash }) => hash)
  const promoLimits = new Map<number, number>()
  const sessions = new Table<StoredSession>(({ id }) => `${id}`)
  const events = new Table<Event>(({ id }) => `${id}`)
  const audit = new Table<AuditRecord>(({ id }) => `${id}`)
  const notes = new Table<PlayerNote>(({ id }) => `${id}`)
  const sums: Array<SumsRow> = []
  const visits: Array<PlayersRow> = []
  const signatures = new Table<AcceptedSignature>(({ signature }) => signature)
  const names = new Table<string>((name) => name)
  const replies = new Table<StoredReply>(({ key, scope }) => `${scope} ${key}`)

  const loadNow = (playerId: number, fence: boolean): Loaded<Player> | undefined => {
    const stored = players.get(playerId)
    if (stored === undefined || !fence) return stored
    const fenced = { state: stored.state, version: stored.version + 1 }
    players.set(playerId, fenced)
    return fenced
  }

  const lookUpNow = (player: Player, query: Query, known: Knowledge | undefined): Knowledge => ({
    transactions: extend(known?.transactions, query.transactionIds, (transactionId) => {
      const key = transactionKey(query.providerId, transactionId)
      const found = transactions.get(key)
      if (found === undefined) return undefined
      const rollbackOf = (targetId: string, times: number) =>
        standingRollbacks.get(rollbackKey(query.providerId, targetId, times))
      let reinstated = 0
      let rollback = rollbackOf(transactionId, 0)
      for (;;) {
        const again = rollback && rollbackOf(rollback.transactionId, 0)
        if (rollback === undefined || again === undefined) break
        rollback = rollbackOf(transactionId, ++reinstated)
      }
      return { ...found, rolledBack: rollback !== undefined, reinstated }
    }),
    rounds: extend(
      known?.rounds,
      query.rounds.map(({ gameId, roundId }) => roundKey(gameId, roundId)),
      (key) => rounds.get(`${player.id} ${key}`)?.round
    ),
    bonuses: extend(
      known?.bonuses,
      query.bonusIds,
      (bonusId) => finishedBonus(player.id, bonusId)
    ),
    payments: extend(
      known?.payments,
      query.externalReference === null ? [] : [query.externalReference],
      (reference) => references.get(`${player.operatorId} ${reference}`)
    ),
    paymentsById: extend(known?.paymentsById, query.paymentId === null ? [] : [query.paymentId], (id) => {
      const found = payments.get(`${id}`)
      return found?.playerId === player.id ? found : undefined
    }),
    promoCodes: extend(known?.promoCodes, query.promoCodeId === null ? [] : [query.promoCodeId], (id) => ({
      isUsedUp: isUsedUp(id, 1),
      isRedeemed: redemptions.get(`${id} ${player.id}`) !== undefined
    })),
    signatures: extend(
      known?.signatures,
      query.signature === null ? [] : [query.signature],
      (signature) => signatures.get(signature) === undefined ? undefined : "this" as const
    ),
    seeds: query.seeds ? seedsOf(player.id) : known?.seeds
  })

  const finishedBonus = (playerId: number, bonusId: number): PlayerBonus | undefined => {
    const bonus = bonuses.get(`${playerId} ${bonusId}`)?.bonus
    if (bonus === undefined || bonus.result === null) return undefined
    const holding = [...rounds.rows.values()].filter((row) =>
      row.playerId === playerId && row.round.bonusId === bonusId && !row.round.closed && row.round.bonusStake > 0
    )
    return { ...bonus, openRounds: holding.length }
  }

  /** The seeds of a player: the nonce and the client seed are those that the last round under the one in use has left. */
  const seedsOf = (playerId: number): PlayerSeeds | null => {
    const open = [...seeds.rows.values()].filter((seed) => seed.playerId === playerId && seed.retiredAt === null)
    const current = open.find(({ startedAt }) => startedAt !== null)
    const next = open.find(({ startedAt }) => startedAt === null)
    if (current === undefined || next === undefined) return null
    const last = [...originalRounds.rows.values()].filter(({ seedId }) => seedId === current.id)
      .reduce<OriginalRound | undefined>((found, round) => round.nonce < (found?.nonce ?? 0) ? found : round, undefined)
    return {
      current: {
        serverSeed: current.id,
        serverSeedHash: current.hash,
        clientSeed: last?.clientSeed ?? current.clientSeed ?? "",
        nonce: last === undefined ? 0 : last.nonce + 1
      },
      next: { serverSeed: next.id, serverSeedHash: next.hash }
    }
  }

  /** Whether a promo code cannot be redeemed so often more. */
  const isUsedUp = (promoCodeId: number, more: number): boolean => {
    const redeemed =
      [...redemptions.rows.values()].filter((redemption) => redemption.promoCodeId === promoCodeId).length
    return redeemed + more > (promoLimits.get(promoCodeId) ?? Number.POSITIVE_INFINITY)
  }

  /** Writes all units or none: a clash undoes earlier writes. */
  const commitNow = (units: ReadonlyArray<Unit<Player, Change>>): Rejected | undefined => {
    // the fence is checked first: a stale writer is refused as stale before any other error
    for (const { after, changes, key, version } of units) {
      const stored = players.get(key)
      if (isBirth({ changes })) {
        if (stored !== undefined) return new Rejected({ because: "clash" })
      } else if (stored?.version !== version || stored?.state.operatorId !== after.operatorId) {
        return new Rejected({ because: "fenced" })
      }
    }
    const undo: Array<() => void> = []
    const insert = <Row>(table: Table<Row>, row: Row): boolean => {
      if (!table.insert(row)) return false
      undo.push(() => table.delete(row))
      return true
    }
    const replace = <Row>(table: Table<Row>, before: Row, after: Row): void => {
      table.set(after)
      undo.push(() => table.set(before))
    }
    const writeRound = (playerId: number, round: Round, isNew: boolean): boolean => {
      const before = rounds.get(playerRoundKey(playerId, round.gameId, round.roundId))
      if (isNew) return insert(rounds, { playerId, round })
      if (before !== undefined) {
        replace(rounds, before, { playerId, round: { ...round, openedAt: before.round.openedAt } })
      }
      return true
    }
    const writePayment = (payment: Payment, isNew: boolean): boolean => {
      if (isNew) {
        return insert(payments, payment) && (payment.externalReference === null || insert(references, payment))
      }
      const before = payments.get(`${payment.id}`)
      if (before !== undefined && before.operatorId === payment.operatorId) {
        const { cancelledAt, isReversed, paidAt, rejectReason, rejectedAt, status, updatedAt } = payment
        const { firstApprovedBy, secondApprovedBy } = payment
        const times = { paidAt, rejectedAt, cancelledAt, updatedAt }
        const after = { ...before, status, rejectReason, isReversed, firstApprovedBy, secondApprovedBy, ...times }
        replace(payments, before, after)
        if (before.externalReference !== null) replace(references, before, after)
      }
      return true
    }
    const writeBonus = (row: BonusRow, isNew: boolean): boolean => {
      const before = bonuses.get(`${row.playerId} ${row.bonus.id}`)
      // one that a player was put in with has no row yet
      if (isNew || before === undefined) return insert(bonuses, row)
      replace(bonuses, before, row)
      return true
    }
    const writeRedemption = (redemption: Redemption): boolean =>
      !isUsedUp(redemption.promoCodeId, 1) && insert(redemptions, redemption)
    const writeOriginalRound = (round: OriginalRound): boolean => insert(originalRounds, round) && insert(nonces, round)
    const writeSeed = (seed: SeedChange): boolean => {
      if (seed.sealed !== null) return insert(seeds, seed) && insert(seedHashes, seed)
      const before = seeds.get(`${seed.id}`)
      if (before?.playerId === seed.playerId) replace(seeds, before, mergeSeeds(before, seed))
      return true
    }
    // the session of a player inserted with one has no row
    const endSession = ({ endedAt, id }: EndedSession): boolean => {
      const before = sessions.get(`${id}`)
      if (before !== undefined) replace(sessions, before, { ...before, endedAt })
      return true
    }
    const writeTransaction = (transaction: Transaction): boolean =>
      insert(transactions, transaction) && (!isStandingRollback(transaction) || insert(standingRollbacks, transaction))

    const writeBirth = (birth: Birth): boolean => bornNames(birth).every((name) => insert(names, name))

    const writeChange = (playerId: number, change: Change): boolean =>
      (change.birth === null || writeBirth(change.birth)) &&
      change.entries.every((entry) => insert(entries, entry)) &&
      change.transactions.every(writeTransaction) &&
      change.rounds.every(({ isNew, round }) => writeRound(playerId, round, isNew)) &&
      change.payments.every(({ isNew, payment }) => writePayment(payment, isNew)) &&
      change.bonuses.every(({ bonus, isNew }) => writeBonus({ playerId, bonus }, isNew)) &&
      change.redemptions.every(writeRedemption) &&
      change.originalRounds.every(writeOriginalRound) &&
      change.seeds.every(writeSeed) &&
      change.sessions.every((session) => insert(sessions, session)) &&
      change.endedSessions.every(endSession) &&
      change.events.every((event) => insert(events, event)) &&
      change.audit.every((record) => insert(audit, record)) &&
      change.notes.every((note) => insert(notes, note)) &&
      change.signatures.every((accepted) => insert(signatures, accepted)) &&
      change.replies.every((reply) => insert(replies, reply))

    const isWritten = units.every(({ after, changes, key }) =>
      after.bonus >= 0 && after.withdrawn >= 0 && changes.every((change) => writeChange(key, change))
    )
    if (!isWritten) {
      for (const step of undo.reverse()) step()
      return new Rejected({ because: "clash" })
    }
    const report = reportRows(units, new RatePairs())
    sums.push(...report.sums)
    visits.push(...report.players)
    for (const { after, changes, key, version } of units) {
      const {
        activeBonus,
        activity,
        bonus,
        bonusGrants,
        bonusUpdatedAt,
        counters,
        endedSessions,
        entrySeq,
        obligations,
        openSessions,
        pendingBonuses,
        providerIds,
        real,
        realUpdatedAt,
        session,
        walletSeq,
        withdrawn
      } = after
      const account = {
        activeBonus,
        activity,
        bonus,
        bonusGrants,
        bonusUpdatedAt,
        counters,
        endedSessions,
        entrySeq,
        obligations,
        openSessions,
        pendingBonuses,
        providerIds,
        real,
        realUpdatedAt,
        session,
        walletSeq,
        withdrawn
      }
      const { updatedAt: _, ...settings } = changes.findLast((change) => change.settings !== null)?.settings ??
        noSettings
      players.set(key, {
        state: { ...players.get(key)?.state ?? after, ...settings, ...account },
        version: version + 1
      })
    }
    return undefined
  }

  const examineNow = (
    units: ReadonlyArray<Unit<Player, Change>>,
    because: Rejected["because"]
  ): ReadonlyArray<Verdict<Knowledge>> => {
    // rows are never locked
    if (because === "busy") return units.map(() => ({ _tag: "Valid" }))
    if (because === "fenced") {
      return units.map(({ changes, key, version }) => ({
        _tag: players.get(key)?.version === (isBirth({ changes }) ? undefined : version) ? "Valid" : "Fenced"
      }))
    }
    return judgeClashes(
      units,
      units.map(({ before, changes }) => changes.map((change) => lookUpNow(before, claims(before, change), undefined))),
      new Set([
        ...[...replies.rows.values()].map(replyKey),
        ...units.flatMap(({ changes }) =>
          changes.flatMap(({ birth }) =>
            birth !== null && bornNames(birth).some((name) => names.get(name) !== undefined) ? [birthKey(birth)] : []
          )
        )
      ])
    )
  }

  const pass = <A, E>(run: Effect.Effect<A, E>): Effect.Effect<A, E> => run
  const { commit = pass, examine = pass, load = pass, lookUp = pass } = around

  const store = withCommittedIds({
    load: (playerId, fence) => load(Effect.sync(() => loadNow(playerId, fence)), playerId, fence),
    lookUp: (player, query, known) => lookUp(Effect.sync(() => lookUpNow(player, query, known)), query),
    commit: (units) =>
      commit(
        Effect.suspend(() => {
          const rejected = commitNow(units)
          return rejected === undefined ? Effect.void : Effect.fail(rejected)
        }),
        units
      ),
    examine: (units, because) => examine(Effect.sync(() => examineNow(units, because)), units),
    claims
  }, new CommittedIds(2 ** 10))

  return {
    ...store,
    add: (player) =>
      Effect.sync(() => {
        if (!players.has(player.id)) {
          players.set(player.id, { state: asLoaded(player), version: 0 })
        }
      }),
    limitPromo: (promoCodeId, maxRedemptions) => promoLimits.set(promoCodeId, maxRedemptions),
    findReply: (scope, key) => replies.get(`${scope} ${key}`),
    keepReply: (reply) => replies.insert(reply),
    forgetReply: (reply) => replies.delete(reply),
    tables: () => {
      const byPlayer = new Map<number, Map<string, Round>>()
      for (const { playerId, round } of rounds.rows.values()) {
        const own = byPlayer.get(playerId) ?? new Map<string, Round>()
        byPlayer.set(playerId, own.set(roundKey(round.gameId, round.roundId), round))
      }
      return {
        players: new Map(players),
        entries: [...entries.rows.values()],
        transactions: [...transactions.rows.values()],
        rounds: byPlayer,
        payments: [...payments.rows.values()],
        bonuses: new Map([...bonuses.rows.values()].map(({ bonus }) => [bonus.id, bonus])),
        redemptions: [...redemptions.rows.values()],
        originalRounds: [...originalRounds.rows.values()],
        seeds: [...seeds.rows.values()],
        sessions: [...sessions.rows.values()],
        events: [...events.rows.values()],
        audit: [...audit.rows.values()],
        notes: [...notes.rows.values()],
        replies: [...replies.rows.values()],
        signatures: [...signatures.rows.values()],
        sums: [...sums],
        visits: [...visits]
      }
    }
  }
}
