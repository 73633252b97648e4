import { layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import pg from "pg"
import { expect } from "vitest"
import {
  baselineStyles,
  type BaselineStyle,
  type Bet,
  makePlaceBet,
  openPool
} from "../../bench/targets/servers/BaselineBets.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

const schemaFile = join(import.meta.dirname, "..", "..", "bench", "targets", "servers", "baseline.sql")
const hash = (token: string) => createHash("sha256").update(token).digest()

const bet = (overrides: Partial<Bet> = {}): Bet => ({
  providerId: 1,
  transactionId: "t1",
  sessionToken: "a",
  gameId: 1,
  roundId: "r1",
  amount: 30,
  currency: "EUR",
  ...overrides
})

/** The baseline on tables of its own (a schema per style) with two players that own 100 each. */
const open = (url: Redacted.Redacted, style: BaselineStyle) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const address = new URL(Redacted.value(url))
      address.searchParams.set("options", `-c search_path=${style}`)
      const client = new pg.Client({ connectionString: address.href })
      await client.connect()
      await client.query(`CREATE SCHEMA ${style}`)
      await client.query(readFileSync(schemaFile, "utf8"))
      await client.query("INSERT INTO providers VALUES (1, 'key', 'secret')")
      await client.query("INSERT INTO games VALUES (1, 1, 'slot'), (2, 1, 'other')")
      await client.query("INSERT INTO players (id, currency) VALUES (1, 'EUR'), (2, 'EUR')")
      await client.query("INSERT INTO wallets (player_id, real_balance) VALUES (1, 100), (2, 100)")
      await client.query(
        `INSERT INTO game_sessions VALUES ($1, 1, 1, now() + interval '1 hour'), ($2, 2, 1, now() + interval '1 hour'),
          ($3, 1, 1, now() - interval '1 second')`,
        [hash("a"), hash("b"), hash("over")]
      )
      const pool = await openPool(address.href, style, 3)
      return { client, pool, placeBet: makePlaceBet(pool, style) }
    }),
    ({ client, pool }) =>
      Effect.promise(async () => {
        await pool.end()
        await client.query(`DROP SCHEMA ${style} CASCADE`)
        await client.end()
      })
  )

layer(TestDatabase.layer)("the baseline implementation", (it) => {
  for (const style of baselineStyles) {
    // Goal: the baseline does the same work for a bet as the service and refuses the same. Method: every outcome
    // that the contract names for a bet, then the tables.
    it.effect(`settles a bet as the service does (${style})`, () =>
      Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const { client, placeBet } = yield* open(url, style)
        const place = (overrides: Partial<Bet> = {}) => Effect.promise(() => placeBet(bet(overrides)))

        const first = yield* place()
        expect(first).toMatchObject({ status: "processed", balance: 70, bonusBalance: 0, walletSeq: 1 })
        expect(yield* place({ transactionId: "t2", amount: 70 })).toMatchObject({ status: "processed", balance: 0 })
        const entryId = "entryId" in first ? first.entryId : undefined
        expect(yield* place()).toMatchObject({ status: "replayed", entryId, balance: 0, walletSeq: 2 })
        expect(yield* place({ amount: 31 })).toEqual({ refusal: "DUPLICATE_TRANSACTION" })
        expect(yield* place({ sessionToken: "b" })).toEqual({ refusal: "DUPLICATE_TRANSACTION" })
        // A retry is answered for ever, also when the session is over.
        expect(yield* place({ sessionToken: "over" })).toMatchObject({ status: "replayed", entryId })

        expect(yield* place({ transactionId: "t3", amount: 1 })).toEqual({ refusal: "INSUFFICIENT_FUNDS" })
        expect(yield* place({ transactionId: "t4", sessionToken: "over" })).toEqual({ refusal: "INVALID_SESSION" })
        expect(yield* place({ transactionId: "t4", sessionToken: "none" })).toEqual({ refusal: "INVALID_SESSION" })
        expect(yield* place({ transactionId: "t4", sessionToken: "b", gameId: 2 })).toEqual({
          refusal: "INVALID_SESSION"
        })
        expect(yield* place({ transactionId: "t4", sessionToken: "b", currency: "USD" })).toEqual({
          refusal: "VALIDATION_FAILED"
        })
        yield* Effect.promise(() => client.query("INSERT INTO rounds VALUES (2, 1, 'closed', 0, 0, 0, true, now())"))
        expect(yield* place({ transactionId: "t4", sessionToken: "b", roundId: "closed" })).toEqual({
          refusal: "ROUND_CLOSED"
        })
        yield* Effect.promise(() => client.query("UPDATE players SET can_bet = false WHERE id = 2"))
        expect(yield* place({ transactionId: "t4", sessionToken: "b" })).toEqual({ refusal: "PLAYER_RESTRICTED" })

        const tables = yield* Effect.promise(() =>
          client.query(
            `SELECT (SELECT array_agg(amount || ':' || balance_after ORDER BY seq) FROM ledger_entries) AS entries,
              (SELECT array_agg(transaction_id ORDER BY transaction_id) FROM provider_transactions) AS transactions,
              (SELECT array_agg(real_balance::int ORDER BY player_id) FROM wallets) AS balances,
              (SELECT real_stake::int FROM rounds WHERE round_id = 'r1') AS stake`
          )
        )
        expect(tables.rows).toEqual([
          { entries: ["-30:70", "-70:0"], transactions: ["t1", "t2"], balances: [0, 100], stake: 100 }
        ])
      }))

    // Goal: bets of one player at the same time neither overdraw nor count twice. Method: more bets at once than the
    // balance covers, and one of them sent many times.
    it.effect(`loses no update when one player's bets arrive concurrently (${style})`, () =>
      Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const { client, placeBet } = yield* open(url, style)
        const ids = Array.from({ length: 20 }, (_, index) => index < 10 ? "same" : `t${index}`)
        const outcomes = yield* Effect.promise(() =>
          Promise.all(ids.map((id) => placeBet(bet({ transactionId: id, amount: 20, roundId: "r" }))))
        )
        const statuses = outcomes.map((outcome) => "refusal" in outcome ? outcome.refusal : outcome.status)
        expect(statuses.filter((status) => status === "processed")).toHaveLength(5)
        const { rows } = yield* Effect.promise(() =>
          client.query(
            `SELECT (SELECT real_balance::int FROM wallets WHERE player_id = 1) AS balance,
              (SELECT count(*)::int FROM ledger_entries) AS entries,
              (SELECT count(*)::int FROM provider_transactions WHERE transaction_id = 'same') AS same`
          )
        )
        expect(rows).toEqual([{ balance: 0, entries: 5, same: expect.any(Number) }])
        expect(rows[0]?.["same"]).toBeLessThanOrEqual(1)
      }))
  }
})
