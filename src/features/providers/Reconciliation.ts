/**
 * Reconciles a vendor's UTC day with the wallet, by transaction, or by round if the feed has rounds. As clocks differ, transactions within five
 * minutes of midnight are matched if the vendor lists them, and not reported missing if it does not.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { isCurrency, minorDigits } from "../../domain/Standards.ts"
import { toDate } from "../../platform/Time.ts"
import { type Decimal, toMinorUnits } from "../../protocols/Decimal.ts"
import type { Feed, FeedTransaction, LeftLine } from "../../protocols/Protocol.ts"
import { isRolledBack } from "../../store/RollbacksInEffect.ts"
import { isStorable, oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { PlayerRefs } from "../games/PlayerRefs.ts"
import { Vendors } from "../integrations/Vendors.ts"
import { refusedByVendor } from "./CatalogueSync.ts"
import type { Compared, Difference, ReconciliationReport } from "../../contract/providers/StaffApi.ts"

const dayMs = 86_400_000
const clocksDifferMs = 5 * 60_000

/** Differences of a kind that a report names. */
const maxNamed = 1_000

/** Transactions or rounds of ours that a day may have. */
const maxOurs = 500_000

const chunkSize = 1_000

const noFeed = refuse("INVALID_REQUEST", "The provider's protocol has no feed to compare the ledger with.", {
  reason: "no_feed"
})
const notOver = refuseFields({ date: ["must be a day that has begun"] })
const tooMany = refuse(
  "INVALID_REQUEST",
  `The day has more than ${maxOurs} transactions: it cannot be compared at once.`,
  {
    reason: "too_many_transactions"
  }
)

const TransactionRow = Schema.Struct({
  id: Schema.String,
  kind: Schema.String,
  status: Schema.String,
  amount: Schema.Number,
  playerId: Schema.Number,
  currency: Schema.String,
  targetId: Schema.NullOr(Schema.String)
})
const transactionRows = rowsOf(TransactionRow)
const ourRows = rowsOf(Schema.Struct({ ...TransactionRow.fields, isUndone: Schema.Boolean }))

const roundRows = rowsOf(Schema.Struct({
  playerId: Schema.Number,
  game: Schema.String,
  round: Schema.String,
  bet: Schema.Number,
  win: Schema.Number,
  currency: Schema.String,
  /** It is over, and all of it lies within the day. */
  isDue: Schema.Boolean,
  /** Its last message is of the day. */
  isOfDay: Schema.Boolean
}))

const countRows = rowsOf(Schema.Struct({ count: Schema.Number }))

/** Messages that moved money. */
const movedMoney = "t.status = 'processed' AND t.amount <> 0 AND t.kind <> 'tombstone'"

type OurTransaction = typeof TransactionRow.Type
type OurRound = Effect.Success<ReturnType<typeof roundRows>>[number]

const minorOf = (amount: Decimal, currency: string): number | null =>
  toMinorUnits(amount, minorDigits(currency)) ?? null

/** Transaction kinds of the wallet by those of a feed. */
const kindsOf: { readonly [kind in FeedTransaction["kind"]]: ReadonlyArray<string> } = {
  bet: ["bet"],
  win: ["win", "promo_win", "adjustment"],
  rollback: ["rollback"]
}

const isSameTransaction = (line: FeedTransaction, vendor: Compared, ours: OurTransaction, isUndone: boolean): boolean =>
  ours.playerId === vendor.player_id &&
  (ours.kind === "tombstone"
    // it never was a bet here: right where the vendor took it back as well
    ? isUndone
    : kindsOf[line.kind].includes(ours.kind) && ours.currency === vendor.currency &&
      // amounts of rollbacks differ between vendors: their target's amount is compared
      (line.kind === "rollback" || Math.abs(ours.amount) === vendor.amount))

const ourTransaction = ({ amount, currency, kind, playerId }: OurTransaction): Compared => ({
  kind,
  amount,
  currency,
  player_id: playerId
})

const ourRound = ({ bet, currency, playerId, win }: OurRound): Compared => ({
  kind: null,
  amount: bet,
  win,
  currency,
  player_id: playerId
})

/** Lines of one finding: all are counted, some are named. */
class Found<Line> {
  readonly named: Array<Line> = []
  total = 0

  add(line: Line): void {
    this.total++
    if (this.named.length < maxNamed) this.named.push(line)
  }
}

/** Lines of one side, by kind. */
class LineCounts {
  readonly byKind: Record<string, number> = {}

  add(kind: string, count = 1): void {
    if (count > 0) this.byKind[kind] = (this.byKind[kind] ?? 0) + count
  }
}

type NotUnderstood = ReconciliationReport["not_understood"][number]

class Comparison {
  matched = 0
  readonly onlyVendor = new Found<Difference>()
  readonly onlyHere = new Found<Difference>()
  readonly different = new Found<Difference>()
  readonly notUnderstood = new Found<NotUnderstood>()
  readonly vendorLines = new LineCounts()
  readonly ourLines = new LineCounts()

  constructor({ unsettled = 0 }: Feed) {
    this.vendorLines.add("unsettled", unsettled)
  }

  /** Notes a line of the vendor that cannot be compared, with ours of its id. */
  leave({ id, reason }: LeftLine, here: Compared | undefined): void {
    this.vendorLines.add("not_understood")
    this.notUnderstood.add({ id, reason, ...here !== undefined && { here } })
  }

  /** Puts one line of the vendor beside ours. */
  take(id: string, vendor: Compared, here: Compared | undefined, isSame: boolean): void {
    this.vendorLines.add(vendor.kind ?? "round")
    if (here === undefined) this.onlyVendor.add({ id, vendor })
    else if (isSame) this.matched++
    else this.different.add({ id, here, vendor })
  }

  report(date: string, by: ReconciliationReport["by"]): ReconciliationReport {
    const { different, matched, notUnderstood, onlyHere, onlyVendor } = this
    return {
      date,
      by,
      matched,
      only_vendor: onlyVendor.named,
      only_here: onlyHere.named,
      different: different.named,
      not_understood: notUnderstood.named,
      totals: {
        only_vendor: onlyVendor.total,
        only_here: onlyHere.total,
        different: different.total,
        not_understood: notUnderstood.total
      },
      lines: { vendor: this.vendorLines.byKind, here: this.ourLines.byKind },
      is_clean: onlyVendor.total + onlyHere.total + different.total + notUnderstood.total === 0
    }
  }
}

/** Lines of a feed that can be compared, and those that cannot: odd ones, of a currency that is none, and repeated ones. */
const partOf = <Line extends { readonly currency: string }>(
  lines: ReadonlyArray<Line>,
  keyOf: (line: Line) => string,
  odd: ReadonlyArray<LeftLine> = [],
  idOf = keyOf
): { readonly lines: ReadonlyArray<Line>; readonly left: ReadonlyArray<LeftLine> } => {
  const left: Array<LeftLine> = [...odd]
  const kept = new Map<string, Line>()
  for (const line of lines) {
    const key = keyOf(line)
    if (!isCurrency(line.currency)) {
      left.push({ id: idOf(line), reason: `currency: ${line.currency.slice(0, 20)} is not known` })
    } else if (kept.has(key)) left.push({ id: idOf(line), reason: "named twice: the first one was compared" })
    else kept.set(key, line)
  }
  return { lines: [...kept.values()], left }
}

interface Day {
  readonly date: string
  readonly fromMs: number
  readonly toMs: number
}

export class Reconciliation extends Context.Service<Reconciliation, {
  /** Compares a UTC day (`YYYY-MM-DD`) with the feed of the provider's vendor. `now` in epoch milliseconds. */
  readonly reconcile: (
    providerId: number,
    date: string,
    now: number
  ) => Effect.Effect<
    ReconciliationReport,
    Refusal<"INVALID_REQUEST" | "VALIDATION_FAILED" | "NOT_FOUND" | "TRY_AGAIN">
  >
}>()("pitboss/providers/Reconciliation") {
  static readonly layer = Layer.effect(
    Reconciliation,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const vendors = yield* Vendors
      const refs = yield* PlayerRefs

      /** Of sandboxes a vendor knows nothing. */
      const ofLive = sql`p.operator_id NOT IN (SELECT id FROM operators WHERE is_sandbox)`

      /** Ours under the ids of a feed, whenever they came. */
      const findAll = Effect.fnUntraced(function*(providerId: number, ids: ReadonlyArray<string>) {
        const found = new Map<string, OurTransaction>()
        for (let start = 0; start < ids.length; start += chunkSize) {
          const chunk = JSON.stringify(ids.slice(start, start + chunkSize).filter(isStorable))
          const rows = yield* transactionRows(
            sql`SELECT t.transaction_id AS id, t.kind, t.status, t.amount, t.player_id AS "playerId", p.currency,
                t.target_transaction_id AS "targetId"
              FROM jsonb_array_elements_text(${chunk}::text::jsonb) AS asked (id)
              JOIN provider_transactions t ON t.provider_id = ${providerId}::float8::bigint AND t.transaction_id = asked.id
              JOIN players p ON p.id = t.player_id`
          )
          for (const row of rows) found.set(row.id, row)
        }
        return found
      })

      const compareTransactions = Effect.fnUntraced(function*(
        providerId: number,
        { fromMs, toMs }: Day,
        feed: Extract<Feed, { readonly by: "transaction" }>
      ) {
        const comparison = new Comparison(feed)
        const { left, lines } = partOf(feed.lines, ({ transactionId }) => transactionId, feed.odd)
        const leftIds = left.flatMap(({ id }) => id ?? [])
        const found = yield* findAll(providerId, [...lines.map(({ transactionId }) => transactionId), ...leftIds])
        for (const one of left) {
          const ours = one.id === null ? undefined : found.get(one.id)
          comparison.leave(one, ours && ourTransaction(ours))
        }
        const undone = new Set(
          lines.flatMap(({ kind, transactionId }) =>
            kind === "rollback" ? found.get(transactionId)?.targetId ?? [] : []
          )
        )
        for (const line of lines) {
          const { amount, currency, kind, playerRef, transactionId: id } = line
          const vendor: Compared = {
            kind,
            amount: minorOf(amount, currency),
            currency,
            player_id: refs.parse(providerId, playerRef) ?? null
          }
          const ours = found.get(id)
          const isSame = ours !== undefined && isSameTransaction(line, vendor, ours, undone.has(id))
          comparison.take(id, vendor, ours === undefined ? undefined : ourTransaction(ours), isSame)
        }
        const named = new Set([...lines.map(({ transactionId }) => transactionId), ...leftIds])
        // a vendor may omit transactions of net zero: a bet together with its rollback as well
        const rows = yield* ourRows(
          sql`SELECT t.transaction_id AS id, t.kind, t.status, t.amount, t.player_id AS "playerId", p.currency,
              t.target_transaction_id AS "targetId",
              ${sql.literal(isRolledBack("t"))} AS "isUndone"
            FROM provider_transactions t JOIN players p ON p.id = t.player_id AND ${ofLive}
            WHERE t.provider_id = ${providerId} AND t.created_at >= ${toDate(fromMs + clocksDifferMs)}
              AND t.created_at < ${toDate(toMs - clocksDifferMs)} AND ${sql.literal(movedMoney)}
            LIMIT ${maxOurs + 1}`
        )
        if (rows.length > maxOurs) return yield* Effect.fail(tooMany)
        const idle = yield* oneOf(countRows(
          sql`SELECT count(*)::float8 AS count FROM provider_transactions t JOIN players p ON p.id = t.player_id AND ${ofLive}
            WHERE t.provider_id = ${providerId} AND t.created_at >= ${toDate(fromMs + clocksDifferMs)}
              AND t.created_at < ${toDate(toMs - clocksDifferMs)} AND NOT (${sql.literal(movedMoney)})`
        ))
        comparison.ourLines.add("without_effect", idle?.count)
        for (const row of rows) {
          const hadNoEffect = row.isUndone || (row.kind === "rollback" && !named.has(row.targetId ?? ""))
          comparison.ourLines.add(hadNoEffect && !named.has(row.id) ? "without_effect" : row.kind)
          if (!named.has(row.id) && !hadNoEffect) comparison.onlyHere.add({ id: row.id, here: ourTransaction(row) })
        }
        return comparison
      })

      const compareRounds = Effect.fnUntraced(function*(
        providerId: number,
        { fromMs, toMs }: Day,
        feed: Extract<Feed, { readonly by: "round" }>
      ) {
        const comparison = new Comparison(feed)
        const idOf = ({ gameId, roundId }: { readonly gameId: string; readonly roundId: string }) =>
          `${gameId}/${roundId}`
        const { left, lines } = partOf(feed.lines, (line) => `${idOf(line)}/${line.playerRef}`, feed.odd, idOf)
        // a round that ended on the day may have begun before, and be paid after
        const rows = yield* roundRows(
          sql`SELECT s.player_id AS "playerId", g.external_id AS game, s.round_id AS round,
              (r.real_stake + r.bonus_stake)::float8 AS bet, s.win::float8 AS win, p.currency,
              r.closed AND r.opened_at >= ${toDate(fromMs + clocksDifferMs)}
                AND s.last_at < ${toDate(toMs - clocksDifferMs)} AS "isDue",
              s.last_at >= ${toDate(fromMs)} AND s.last_at < ${toDate(toMs)} AS "isOfDay"
            FROM (
              SELECT t.player_id, t.game_id, t.round_id, max(t.created_at) AS last_at,
                sum(CASE WHEN t.kind IN ('win', 'adjustment') THEN t.amount
                  WHEN t.kind = 'rollback' AND taken.kind = 'win' THEN 0 - t.amount ELSE 0 END) AS win
              FROM provider_transactions t
              LEFT JOIN provider_transactions taken ON t.kind = 'rollback' AND taken.provider_id = t.provider_id
                AND taken.transaction_id = t.target_transaction_id
              WHERE t.provider_id = ${providerId} AND t.created_at >= ${toDate(fromMs - dayMs)}
                AND t.created_at < ${toDate(toMs + dayMs)} AND t.status = 'processed' AND t.round_id IS NOT NULL
              GROUP BY t.player_id, t.game_id, t.round_id
              LIMIT ${maxOurs + 1}
            ) s
            JOIN rounds r ON r.player_id = s.player_id AND r.game_id = s.game_id AND r.round_id = s.round_id
            JOIN games g ON g.id = s.game_id
            JOIN players p ON p.id = s.player_id AND ${ofLive}`
        )
        if (rows.length > maxOurs) return yield* Effect.fail(tooMany)
        const keyOf = (playerId: number | null, game: string, round: string) => JSON.stringify([playerId, game, round])
        const ours = new Map(rows.map((row) => [keyOf(row.playerId, row.game, row.round), row]))
        const named = new Set<string>()
        const byId = new Map(rows.map((row) => [`${row.game}/${row.round}`, row]))
        for (const one of left) {
          const row = one.id === null ? undefined : byId.get(one.id)
          if (row !== undefined) named.add(keyOf(row.playerId, row.game, row.round))
          comparison.leave(one, row && ourRound(row))
        }
        for (const { bet, currency, gameId, playerRef, roundId, win } of lines) {
          const playerId = refs.parse(providerId, playerRef) ?? null
          const key = keyOf(playerId, gameId, roundId)
          named.add(key)
          const vendor: Compared = {
            kind: null,
            amount: minorOf(bet, currency),
            win: minorOf(win, currency),
            currency,
            player_id: playerId
          }
          const here = ours.get(key)
          const isSame = here !== undefined && here.bet === vendor.amount && here.win === vendor.win &&
            here.currency === currency
          comparison.take(`${gameId}/${roundId}`, vendor, here === undefined ? undefined : ourRound(here), isSame)
        }
        for (const [key, row] of ours) {
          if (row.isDue || named.has(key)) comparison.ourLines.add("round")
          else if (row.isOfDay) comparison.ourLines.add("not_due")
          if (row.isDue && !named.has(key)) {
            comparison.onlyHere.add({ id: `${row.game}/${row.round}`, here: ourRound(row) })
          }
        }
        return comparison
      })

      const reconcile: Reconciliation["Service"]["reconcile"] = Effect.fn("Reconciliation.reconcile")(
        function*(providerId, date, now) {
          const fromMs = Date.parse(`${date}T00:00:00Z`)
          const day: Day = { date, fromMs, toMs: fromMs + dayMs }
          if (fromMs > now) return yield* Effect.fail(notOver)
          const { outbound, tools } = yield* vendors.find(providerId, null)
          if (outbound.feed === undefined) return yield* Effect.fail(noFeed)
          const feed = yield* Effect.mapError(outbound.feed({ fromMs, toMs: day.toMs }, tools), refusedByVendor)
          const comparison = yield* orTryAgain(
            feed.by === "transaction"
              ? compareTransactions(providerId, day, feed)
              : compareRounds(providerId, day, feed)
          )
          return comparison.report(date, feed.by)
        }
      )

      return Reconciliation.of({ reconcile })
    })
  )
}
