/** The end of a run: balances and the ledger, as the operator and the back office see them. */
import { Effect, Schema } from "effect"
import { invocation } from "../../src/platform/Invocation.ts"
import type { PlayerSession } from "../simulators/PlayerSession.ts"
import { print, printTable } from "../simulators/Report.ts"
import type { RunStats } from "../simulators/RunStats.ts"
import type { Account } from "./Accounts.ts"
import { backoffice } from "./Backoffice.ts"
import { type Service, told } from "./Service.ts"

const lastEntries = 10

export interface Played {
  readonly account: Account
  readonly player: PlayerSession
}

/** Compares each player's balance and number of ledger entries with the service's, and prints both. */
export const printBalances = Effect.fnUntraced(
  function*({ operator }: Service, played: ReadonlyArray<Played>, stats: RunStats) {
    const found = yield* Effect.forEach(played, ({ account: { id, username }, player }) =>
      Effect.gen(function*() {
        const params = { player: id }
        const { data: wallet } = yield* told("the wallet", operator.wallet.get({ params }))
        const query = { per_page: lastEntries }
        const page = yield* told("the ledger", operator.wallet.transactions({ params, query }))
        const total = "total" in page.meta ? page.meta.total : Number.NaN
        const { balance, entries = Number.NaN } = player.state()
        const agrees = wallet.balance === balance && wallet.bonus_balance === 0 && total === entries
        if (!agrees) {
          stats.differ(
            `${username}: balance ${wallet.balance} and ${wallet.bonus_balance} bonus in ${total} entries ` +
              `instead of ${balance} and 0 in ${entries}`
          )
        }
        return {
          row: [id, username, balance, wallet.balance, entries, total, agrees ? "" : "DIFFERS"],
          newest: page.data
        }
      }), { concurrency: 8 })
    yield* printTable(
      `Balances in cents, and ledger entries`,
      ["player", "username", "expected", "balance", "expected", "entries", ""],
      found.map(({ row }) => row)
    )
    const newest = found.flatMap((player) => player.newest)
      .toSorted((a, b) => b.created_at.localeCompare(a.created_at) || b.id - a.id)
      .slice(0, lastEntries)
    yield* printTable(
      "The last entries of the ledger",
      ["entry", "player", "type", "amount", "balance", "round", "at"],
      newest.map((entry) => [
        entry.id,
        entry.player_id,
        entry.type,
        entry.amount,
        entry.balance_after,
        entry.game_round_id ?? "",
        entry.created_at
      ])
    )
  }
)

const Verification = Schema.Struct({
  players: Schema.Int,
  entries: Schema.Int,
  violations: Schema.Array(Schema.Struct({ message: Schema.String, subject: Schema.String }))
})

/** Verifies the ledger through the back office's command line, and prints the result. */
export const printVerification = Effect.fnUntraced(function*(stats: RunStats) {
  const { entries, players, violations } = yield* backoffice(Verification, ["ledger", "verify"])
  for (const { message, subject } of violations) stats.differ(`ledger verify: ${subject}: ${message}`)
  yield* print(`\n${invocation.backoffice} ledger verify`)
  yield* print(`  players ${players}, entries ${entries}, violations ${violations.length}`)
})
