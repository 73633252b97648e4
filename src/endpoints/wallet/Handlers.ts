/** Operator API handlers for balances and the ledger. */
import { Effect, Exit } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api, OperatorApi } from "../../contract/Api.ts"
import { idInPath } from "../../contract/common/Fields.ts"
import { CurrentOperator } from "../../contract/common/Middleware.ts"
import { pageAlone } from "../../contract/common/Pagination.ts"
import type { Entry } from "../../domain/state/Change.ts"
import { Originals } from "../../features/originals/Originals.ts"
import { iso, parseIso } from "../../platform/Time.ts"
import { Ledger } from "../../features/wallet/Ledger.ts"
import type { PastBalances } from "../../features/wallet/PastBalances.ts"
import { Wallet, type WalletView } from "../../features/wallet/Wallet.ts"
import type { TransactionsQuery } from "../../contract/wallet/Api.ts"
import type { Wallet as WalletFields, WalletAtMoment } from "../../contract/wallet/WalletResource.ts"
import { Endpoints, playerAlone } from "../../http/Endpoints.ts"
import { jsonResponse } from "../../http/Refusals.ts"
import { entryFields } from "../../features/wallet/Entries.ts"
import { proofFields } from "../originals/OriginalHandlers.ts"
import { numberCursors } from "../../store/Cursors.ts"
import type { Page } from "../../store/Rows.ts"
import { pagedOrWalked, pageWithCursor } from "../../http/Page.ts"

type Balances = Pick<PastBalances, "currency" | "real" | "bonus" | "realUpdatedAt" | "bonusUpdatedAt">

const walletsOf = ({ bonus, bonusUpdatedAt, currency, real, realUpdatedAt }: Balances) => [
  { type: "real" as const, balance: real, currency, updated_at: iso(realUpdatedAt) },
  { type: "bonus" as const, balance: bonus, currency, updated_at: iso(bonusUpdatedAt) }
]

/** Balances for operators and staff (SPEC section 2.3). */
export const walletFields = (
  { player, unverifiedWithdrawalAllowance }: WalletView
): typeof WalletFields.Encoded => ({
  player_id: player.id,
  currency: player.currency,
  balance: player.real,
  bonus_balance: player.bonus,
  unverified_withdrawal_allowance: unverifiedWithdrawalAllowance,
  wallets: walletsOf(player)
})

const pastWalletFields = (balances: PastBalances): typeof WalletAtMoment.Encoded => ({
  player_id: balances.playerId,
  currency: balances.currency,
  balance: balances.real,
  bonus_balance: balances.bonus,
  at: iso(balances.at),
  wallets: walletsOf(balances)
})

const entryList = { cursorAt: ({ seq }: Entry) => numberCursors.write(seq), toItem: entryFields }

/** A page of a player's ledger, by page number or by cursor. */
export const ledgerPage = Effect.fnUntraced(function*(
  ledger: Ledger["Service"],
  operatorId: number,
  playerId: number,
  query: typeof TransactionsQuery.Type
) {
  const filters = {
    type: query.type,
    wallet: query.wallet,
    createdFrom: query.created_from === undefined ? undefined : parseIso(query.created_from),
    createdTo: query.created_to === undefined ? undefined : parseIso(query.created_to)
  }
  return yield* pagedOrWalked(query, {
    page: (page) => ledger.list(operatorId, playerId, { ...filters, ...page }),
    part: (part) => ledger.walk(operatorId, playerId, { ...filters, ...part }),
    ...entryList
  })
})

export const WalletHandlers = HttpApiBuilder.group(
  Api,
  "wallet",
  Effect.fnUntraced(function*(handlers) {
    const wallet = yield* Wallet
    const ledger = yield* Ledger
    const originals = yield* Originals
    const endpoints = yield* Endpoints
    endpoints.addRead<WalletView>(
      OperatorApi.groups.wallet.endpoints.get,
      ({ operator }, found) => {
        const playerId = playerAlone(found)
        const view = playerId === undefined ? undefined : wallet.viewAtOnce(operator, playerId)
        return view === undefined ? undefined : (done) => done(Exit.succeed(view))
      },
      (view) => ({ data: walletFields(view) })
    )
    endpoints.addRead<{ readonly found: Page<Entry>; readonly position: { page: number; per_page: number } }>(
      OperatorApi.groups.wallet.endpoints.transactions,
      ({ operator }, { params, searchParams }) => {
        const playerId = idInPath(params["player"])
        const position = pageAlone(searchParams)
        if (playerId === undefined || position === undefined) return undefined
        const { page, per_page: perPage } = position
        const start = ledger.startList(operator.id, playerId, { page, perPage })
        return start === undefined
          ? undefined
          : (done) => start((exit) => done(Exit.map(exit, (found) => ({ found, position }))))
      },
      ({ found, position }, { request }) => pageWithCursor(request.url, position, found, entryList)
    )
    return handlers
      .handle("get", ({ params, query }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const at = query.at === undefined ? undefined : parseIso(query.at)
          const data = at === undefined
            ? walletFields(yield* wallet.view(operator, params.player))
            : pastWalletFields(yield* ledger.balancesAt(operator.id, params.player, at))
          // most frequent call: schema encoding, which the compiler makes redundant, would take a tenth of its time
          return jsonResponse(200, JSON.stringify({ data }))
        }))
      .handle("transactions", ({ params, query }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return yield* ledgerPage(ledger, operator.id, params.player, query)
        }))
      .handle("round", ({ params }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: proofFields(yield* originals.round(operator.id, params.player, params.round)) }
        }))
  })
)
