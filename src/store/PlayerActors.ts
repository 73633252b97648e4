/** Player actors: the only way to change a player's money, limits or rights. */
import { Clock, Context, Effect, Exit, Layer } from "effect"
import { applyDueBonusesStep } from "../domain/bonus/BonusGrants.ts"
import type { StoredSignature } from "../domain/state/AcceptedSignature.ts"
import type { Change } from "../domain/state/Change.ts"
import type { Decision, Knowledge, Step } from "../domain/state/Decision.ts"
import { hasBonusDue } from "../domain/state/WaitingBonuses.ts"
import { compact, type Player, writtenAt } from "../domain/state/Player.ts"
import { outcomeUnknown, type Refusal, refuse } from "../domain/Refusal.ts"
import type { Query } from "../domain/state/Rounds.ts"
import * as Actors from "../engine/Actors.ts"
import type { EngineFailure } from "../engine/Failures.ts"
import type { Store } from "../engine/Machine.ts"
import { OperatorClocks } from "./OperatorClocks.ts"
import { builtInBook, ProfileBook } from "./ProfileBook.ts"
import { makePlayerStore } from "./internal/PlayerStore.ts"

/** Failures of a rule: its refusals, and that the request was accepted before. */
type StepError = Refusal | StoredSignature

/** Refusals of any command to a player. */
export type ActorRefusal = Refusal<"NOT_FOUND" | "TRY_AGAIN">

/**
 * Refusal by a node that does not own the player: nothing was done. Requests and remote commands are forwarded to the owner; a caller that cannot be
 * forwarded is asked to retry.
 */
interface OwnedElsewhere extends Refusal<"TRY_AGAIN"> {
  /** Id of the player. */
  readonly elsewhere: number
}

/** The player owned by another node, if that caused the failure. */
export const elsewhereOf = (error: unknown): number | undefined =>
  typeof error === "object" && error !== null && "elsewhere" in error && typeof error.elsewhere === "number"
    ? error.elsewhere
    : undefined

const notFound = refuse("NOT_FOUND", "There is no such player.")

const tryAgain = (message: string) => refuse("TRY_AGAIN", message, { retry: "same_request" })

const notKnownYet = tryAgain(
  "It is not known yet whether the request took effect. Send the same request again in a moment: under its id or Idempotency-Key it never takes effect twice."
)

/** Refusal of a command that no id or key identifies: after an unknown outcome it must not be sent again unseen. */
export const refusingOnce = <Error extends StepError>(error: Error): Error | Refusal<"TRY_AGAIN"> =>
  error === notKnownYet ? outcomeUnknown : error

/** Whether the refusal leaves open if the command, and what its step stores with it, was written. */
export const leavesOutcomeOpen = (refusal: Refusal): boolean => refusal === notKnownYet || refusal === outcomeUnknown

/** Refusal of an engine failure. All but an unknown player are transient, and safe to retry with the same request. */
const toRefusal = (failure: EngineFailure, playerId: number): ActorRefusal => {
  switch (failure._tag) {
    case "NoSuchActor":
      return notFound
    case "MailboxFull":
      return tryAgain("Too many requests are waiting for this player. Try again in a moment.")
    case "OutcomeUnknown":
      return notKnownYet
    case "StoreUnavailable":
      return tryAgain("The service cannot write right now. Try again in a moment.")
    case "NotOwned": {
      const moving: OwnedElsewhere = { ...beingMoved, elsewhere: playerId }
      return moving
    }
  }
}

const beingMoved = tryAgain("The player is being moved to another node. Try again in a moment.")

const isEngineFailure = (error: StepError | EngineFailure): error is EngineFailure =>
  error._tag !== "Refusal" && error._tag !== "StoredSignature"

const refusingFor =
  (playerId: number) => <Error extends StepError>(error: Error | EngineFailure): Error | ActorRefusal =>
    isEngineFailure(error) ? toRefusal(error, playerId) : error

const rulesUnknown = tryAgain(
  "The rules of the player's jurisdiction are not loaded at this node yet. Try again in a moment."
)

/** The player under the rules that count at `now`; undefined while this process does not know them. */
const underRules = ({ rulesFor }: ProfileBook["Service"]) => (player: Player, now: number): Player | undefined => {
  const rules = rulesFor(player, now)
  return rules === player.rules ? player : rules === undefined ? undefined : { ...player, rules }
}

/** Restricts a step to players of this operator, others are not found; the step sees the rules that count now. */
const checkedUnder = (under: ReturnType<typeof underRules>) =>
<Reply, Error extends StepError>(
  operatorId: number | null,
  step: Step<Reply, Error>
): Step<Reply, Error | ActorRefusal> =>
(held, context): Decision<Reply, Error | ActorRefusal> => {
  if (operatorId !== null && held.operatorId !== operatorId) return { _tag: "Refuse", error: notFound }
  const player = under(held, context.now)
  return player === undefined ? { _tag: "Refuse", error: rulesUnknown } : step(player, context)
}

/** A birth is a row in each of four tables, most of them with many indexes: bets in the same commit would wait for hundreds of them. */
const birthWeight = 8

const weigh = ({ changes }: { readonly changes: ReadonlyArray<Change> }): number =>
  changes.reduce((sum, { birth }) => sum + (birth === null ? 1 : birthWeight), 0)

export class PlayerActors extends Context.Service<PlayerActors, {
  /**
   * Runs a rule as the single writer of a player; answers when its changes are durable. A null `operatorId` skips the check of the player's operator:
   * for providers and staff, who are authorised separately.
   */
  readonly ask: <Reply, Error extends StepError>(
    operatorId: number | null,
    playerId: number,
    step: Step<Reply, Error>
  ) => Effect.Effect<Reply, Error | ActorRefusal>
  /**
   * Like `ask`, of a player who may not be there yet: the rule then begins with `initial`, and has to write the birth. The id is a new one, or that of
   * an earlier try.
   */
  readonly create: <Reply, Error extends StepError>(
    initial: Player,
    step: Step<Reply, Error>
  ) => Effect.Effect<Reply, Error | ActorRefusal>
  /**
   * Like `ask`, without a fiber: `done` is called once with the answer, at the latest after the commit, possibly before `post` returns. An accepted
   * command is not cancelled when its caller disconnects. Not traced: with tracing, use `ask`.
   */
  readonly post: <Reply, Error extends StepError>(
    operatorId: number | null,
    playerId: number,
    step: Step<Reply, Error>,
    done: (exit: Exit.Exit<Reply, Error | ActorRefusal>) => void
  ) => void
  /** Like `read`, synchronously; undefined when it would have to wait, or be refused. */
  readonly peek: (operatorId: number | null, playerId: number) => Player | undefined
  /** Committed state of a player. Due changes of the player's bonuses are written first. */
  readonly read: (operatorId: number | null, playerId: number) => Effect.Effect<Player, ActorRefusal>
  /** Reloads a player in memory before the next decision, when the state is stale. */
  readonly renew: (playerId: number, isStale: (player: Player) => boolean) => void
  /** Number of players in memory. */
  readonly resident: () => number
  /** Milliseconds without a successful commit; 0 when the last one succeeded. */
  readonly writesStalledMs: () => number
}>()("pitboss/store/PlayerActors") {
  /** Over any store, with the built-in profiles unless others are given; `layer` uses PostgreSQL. */
  static readonly layerOver = <E, R, Rules = never>(
    makeStore: Effect.Effect<Store<Player, Change, Query, Knowledge>, E, R>,
    options: Partial<Omit<Actors.ActorsOptions<Player, Change, Query, Knowledge>, "store">> = {},
    profiles: Effect.Effect<ProfileBook["Service"], never, Rules> = Effect.succeed(builtInBook)
  ) =>
    Layer.effect(
      PlayerActors,
      Effect.gen(function*() {
        const store = yield* makeStore
        const clocks = yield* OperatorClocks
        const actors = yield* Actors.make({
          ...Actors.defaults,
          keyName: "player_id",
          compact,
          timeOf: ({ operatorId }, now) => clocks.at(operatorId, now),
          writtenAt,
          weigh,
          ...options,
          store
        })
        const clock = yield* Clock.Clock
        const under = underRules(yield* profiles)
        const checked = checkedUnder(under)
        const ask = <Reply, Error extends StepError>(
          operatorId: number | null,
          playerId: number,
          step: Step<Reply, Error>
        ): Effect.Effect<Reply, Error | ActorRefusal> =>
          Effect.mapError(actors.ask(playerId, checked(operatorId, step)), refusingFor(playerId)<Error | ActorRefusal>)
        return PlayerActors.of({
          ask,
          create: <Reply, Error extends StepError>(initial: Player, step: Step<Reply, Error>) =>
            Effect.mapError(
              actors.create(initial.id, initial, checked(initial.operatorId, step)),
              refusingFor(initial.id)<Error | ActorRefusal>
            ),
          post: <Reply, Error extends StepError>(
            operatorId: number | null,
            playerId: number,
            step: Step<Reply, Error>,
            done: (exit: Exit.Exit<Reply, Error | ActorRefusal>) => void
          ) =>
            actors.post<Reply, Error | ActorRefusal>(
              playerId,
              checked(operatorId, step),
              (exit) => done(Exit.mapError(exit, refusingFor(playerId)<Error | ActorRefusal>))
            ),
          peek: (operatorId, playerId) => {
            const held = actors.peek(playerId)
            if (held === undefined || operatorId !== null && held.operatorId !== operatorId) return undefined
            const now = clocks.at(held.operatorId, clock.currentTimeMillisUnsafe())
            return hasBonusDue(held, now) ? undefined : under(held, now)
          },
          read: (operatorId, playerId) =>
            Effect.matchEffect(actors.read(playerId), {
              onFailure: (failure) => Effect.fail(toRefusal(failure, playerId)),
              onSuccess: (held) => {
                if (operatorId !== null && held.operatorId !== operatorId) return Effect.fail(notFound)
                const now = clocks.at(held.operatorId, clock.currentTimeMillisUnsafe())
                if (hasBonusDue(held, now)) return ask(operatorId, playerId, applyDueBonusesStep)
                const player = under(held, now)
                return player === undefined ? Effect.fail(rulesUnknown) : Effect.succeed(player)
              }
            }),
          renew: actors.renew,
          resident: actors.resident,
          writesStalledMs: actors.writesStalledMs
        })
      })
    )

  static readonly layer = PlayerActors.layerOver(makePlayerStore, {}, Effect.service(ProfileBook))
}
