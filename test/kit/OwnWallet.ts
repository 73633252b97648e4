/** The wallet as providers of Pitboss's own protocol call it, without HTTP: a refusal is a failure. */
import { Effect } from "effect"
import type { Provider } from "../../src/domain/state/Operator.ts"
import type { Refusal } from "../../src/domain/Refusal.ts"
import { ownPolicy, type Settlement } from "../../src/domain/settlement/Settlement.ts"
import type { ProviderWallet } from "../../src/features/settlement/ProviderWallet.ts"
import * as Calls from "../../src/protocols/pitboss/PitbossCalls.ts"
import type { WalletCall, WalletOutcome } from "../../src/protocols/Protocol.ts"

export type BetMessage = Parameters<typeof Calls.betCall>[0]
export type BetWinMessage = Parameters<typeof Calls.betWinCall>[0]
export type WinMessage = Parameters<typeof Calls.winCall>[0]
export type RollbackMessage = Parameters<typeof Calls.rollbackCall>[0]
export type PromoWinMessage = Parameters<typeof Calls.promoWinCall>[0]
export type CloseRoundMessage = Parameters<typeof Calls.closeRoundCall>[0]
export type ActionMessage = Parameters<typeof Calls.batchCall>[0]["actions"][number]

type Outcome<Tag extends WalletOutcome["_tag"]> = Extract<WalletOutcome, { readonly _tag: Tag }>

const hasTag = <Tag extends WalletOutcome["_tag"]>(outcome: WalletOutcome, tag: Tag): outcome is Outcome<Tag> =>
  outcome._tag === tag

/** A provider of Pitboss's own protocol as the wallet knows it. */
export const callingProvider = ({ id }: Pick<Provider, "id">) => ({ providerId: id, policy: ownPolicy })

export const ownWallet = (wallet: ProviderWallet["Service"]) => {
  const asking = <Tag extends WalletOutcome["_tag"]>(provider: Provider, call: WalletCall, tag: Tag) =>
    Effect.flatMap(
      wallet.run(callingProvider(provider), call),
      (outcome): Effect.Effect<Outcome<Tag>, Refusal> =>
        hasTag(outcome, tag)
          ? Effect.succeed(outcome)
          : outcome._tag === "Refused"
          ? Effect.fail(outcome.refusal)
          : Effect.die(new Error(`answered with ${outcome._tag}`))
    )
  const one = (provider: Provider, call: WalletCall): Effect.Effect<Settlement, Refusal> =>
    Effect.flatMap(
      asking(provider, call, "Settled"),
      ({ settlements: [settlement] }) =>
        settlement === undefined ? Effect.die(new Error("nothing was settled")) : Effect.succeed(settlement)
    )
  return {
    bet: (provider: Provider, message: BetMessage) => one(provider, Calls.betCall(message)),
    win: (provider: Provider, message: WinMessage) => one(provider, Calls.winCall(message)),
    betWin: (provider: Provider, message: BetWinMessage) => one(provider, Calls.betWinCall(message)),
    rollback: (provider: Provider, message: RollbackMessage) => one(provider, Calls.rollbackCall(message)),
    closeRound: (provider: Provider, message: CloseRoundMessage) => one(provider, Calls.closeRoundCall(message)),
    promoWin: (provider: Provider, message: PromoWinMessage) => one(provider, Calls.promoWinCall(message)),
    batch: (provider: Provider, actions: ReadonlyArray<ActionMessage>) =>
      Effect.map(asking(provider, Calls.batchCall({ actions }), "Settled"), ({ settlements }) => settlements),
    balance: (provider: Provider, playerRef: string) =>
      Effect.map(asking(provider, Calls.balanceCall({ player_ref: playerRef }), "Balance"), ({ funds }) => funds),
    transactionStatus: (provider: Provider, transactionId: string) =>
      Effect.map(asking(provider, Calls.statusCall(transactionId), "Status"), ({ status }) => status)
  }
}
