/**
 * Wallet of game providers, the same for every protocol: resolves the player, game and session that a call names, settles by
 * `domain/settlement/Settlement.ts`, and includes the player's funds in every outcome, refusals too (`docs/decisions/0041-one-way-through-http.md`).
 *
 * A message is matched by its transaction id before anything else. If the names in it lead to no player whose actor could answer, the database is
 * asked: a known id still gets its stored answer, and only an unknown one is refused because of the name.
 *
 * A call is first planned, synchronously: the plan is its outcome, a step for the player's actor, or a lookup that has to come first. `start`
 * executes a plan for which everything is in memory; `run` looks up what is missing and plans again.
 */
import { Context, Effect, Exit, Layer } from "effect"
import type { PlayerName, WalletCall, WalletOutcome } from "../../protocols/Protocol.ts"
import type { Wallet } from "../../protocols/Wallet.ts"
import { planned } from "../../store/Planned.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { makePlayerPlans } from "./internal/PlayerPlans.ts"
import { makeSettlementPlans } from "./internal/SettlementPlans.ts"
import {
  type Known,
  makeWalletLookups,
  nobody,
  nothing,
  type Plan,
  type RefusedPlayer
} from "./internal/WalletLookups.ts"
import { ProviderTransactions } from "./ProviderTransactions.ts"
import type { CallingProvider } from "./WalletActions.ts"

/** Calls of game providers. */
export class ProviderWallet extends Context.Service<ProviderWallet, Wallet<CallingProvider>>()(
  "pitboss/settlement/ProviderWallet"
) {
  /** Needs `ProviderTransactions`. */
  static readonly layerWithoutRepository = Layer.effect(
    ProviderWallet,
    Effect.gen(function*() {
      const actors = yield* PlayerActors
      const lookups = yield* makeWalletLookups
      const { nameOf, refused } = lookups
      const { planBatch, planSettle } = yield* makeSettlementPlans(lookups)
      const { planBalance, planBalances, planIdentify, planSession, planStatus } = yield* makePlayerPlans(lookups)

      const planOf = (provider: CallingProvider, call: WalletCall, known: Known): Plan => {
        switch (call.kind) {
          case "settle":
            return planSettle(provider, call, known)
          case "batch":
            return planBatch(provider, call, known)
          case "identify":
            return planIdentify(provider, call, known)
          case "session":
            return planSession(provider, call, known)
          case "balance":
            return planBalance(provider, call, known)
          case "balances":
            return planBalances(provider, call, known)
          case "status":
            return planStatus(provider, call, known)
        }
      }

      const start: ProviderWallet["Service"]["start"] = (provider, call, done) => {
        const plan = planOf(provider, call, nothing)
        if (plan._tag === "Lacking") return false
        if (plan._tag !== "Asking") {
          done(Exit.succeed(plan))
          return true
        }
        const { name, named, step } = plan
        actors.post(null, named.playerId, step, (exit) => {
          if (Exit.isSuccess(exit)) return done(Exit.succeed(exit.value))
          const failure = Exit.findErrorOption(exit)
          done(
            failure._tag === "Some"
              ? Exit.succeed(refused(failure.value, provider.providerId, name, named))
              // only defects are left
              : Exit.die(exit.cause)
          )
        })
        return true
      }

      const settled = Effect.fnUntraced(function*(provider: CallingProvider, call: WalletCall) {
        const plan = yield* planned(nothing, (known: Known): Plan => planOf(provider, call, known))
        if (plan._tag !== "Asking") return plan
        const { after, name, named, step } = plan
        const outcome = yield* actors.ask(null, named.playerId, step).pipe(
          Effect.catch((refusal: RefusedPlayer) =>
            Effect.succeed<WalletOutcome>(refused(refusal, provider.providerId, name, named))
          )
        )
        if (after !== undefined) yield* after(outcome)
        return outcome
      })

      const nameIn = (call: WalletCall): PlayerName =>
        call.kind === "batch" ? call.entries[0]?.player ?? nobody : call.player

      const run: ProviderWallet["Service"]["run"] = (provider, call) =>
        settled(provider, call).pipe(
          Effect.catch((refusal) => Effect.succeed<WalletOutcome>(refused(refusal, provider.providerId, nameIn(call))))
        )

      const playerOf: ProviderWallet["Service"]["playerOf"] = ({ providerId }, call) => {
        const named = nameOf(providerId, nameIn(call))
        return "_tag" in named ? undefined : named.playerId
      }

      return ProviderWallet.of({ start, run, playerOf })
    })
  )

  static readonly layer = ProviderWallet.layerWithoutRepository.pipe(Layer.provide(ProviderTransactions.layer))
}
