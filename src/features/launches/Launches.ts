/** Launches a game for a player (SPEC section 4.5): runs the rule in the player's actor, then gets the URL for the player's browser. */
import { Cause, Clock, Context, Effect, Layer, Schedule, Schema } from "effect"
import type { AcceptedSignature } from "../../domain/state/AcceptedSignature.ts"
import type { BetSession } from "../../domain/state/Messages.ts"
import { endSession, type LaunchRefusal, launchStep } from "../../domain/settlement/Launch.ts"
import { type KeyedReply, storingReply } from "../../domain/state/StoringReply.ts"
import { type Refusal, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { Idempotency } from "../../store/Idempotency.ts"
import { type ActorRefusal, leavesOutcomeOpen, PlayerActors, refusingOnce } from "../../store/PlayerActors.ts"
import { type Lacking, planned } from "../../store/Planned.ts"
import { type PlayerCommand, runCommand, startCommand, type Started } from "../../store/PlayerCommands.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import type { Step } from "../../domain/state/Decision.ts"
import { ownProtocol } from "../integrations/ProviderSettings.ts"
import type { Game } from "../games/Game.ts"
import type { Operator } from "../../domain/state/Operator.ts"
import { type AskedRegisters, nobodyAsked } from "../../domain/player/RegisterAdmission.ts"
import { Registers } from "../registers/Registers.ts"
import { Games } from "../games/Games.ts"
import { launchUrl } from "./LaunchUrl.ts"
import { type OpeningLaunch, OpeningSessions } from "../games/OpeningSessions.ts"
import { SessionTokens } from "../games/SessionTokens.ts"
import { type LaunchRequest, VendorLaunches } from "./VendorLaunches.ts"

export interface LaunchedGame {
  readonly mode: "real" | "demo"
  readonly gameId: number
  /** Null for an original, and where the provider has no address for the mode. */
  readonly launchUrl: string | null
  readonly sessionToken: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
  readonly isOriginal: boolean
}

/** Attempts to end the sessions of a launch that came to nothing. The last one is when they have expired. */
const endings = Schedule.spaced("1 second")

const isOfVendor = ({ original, provider }: Game): boolean => original === null && provider.protocol !== ownProtocol

type GameRefusal = Refusal<"NOT_FOUND" | "TRY_AGAIN">

/** Game on offer that was looked up. */
interface KnownGame {
  readonly game: Game | undefined
}

const noGame: KnownGame = { game: undefined }

/** The vendor of the game has to be asked for the address. */
interface AtVendor {
  readonly _tag: "AtVendor"
  readonly game: Game
}

export class Launches extends Context.Service<Launches, {
  /** Refuses a player of another operator, and a game not on offer. */
  readonly mustExist: (
    operatorId: number,
    playerId: number,
    gameId: number
  ) => Effect.Effect<void, ActorRefusal | Refusal<"NOT_FOUND">>
  /**
   * Opens a session of twelve hours. Real mode checks the account, its exclusion and the session limit first. The vendor of another protocol
   * than Pitboss's own is asked for the address; where it gives none, there is no session.
   */
  readonly launch: (
    operatorId: number,
    playerId: number,
    gameId: number,
    request: LaunchRequest,
    answering: KeyedReply<LaunchedGame>
  ) => Effect.Effect<LaunchedGame, LaunchRefusal | ActorRefusal | Refusal<"NOT_FOUND" | "GAME_UNAVAILABLE">>
  /**
   * As `launch`, without a fiber, for a request with this signature: `done` is called once, perhaps at once. False when nothing was done: the game has
   * to be looked up, or its vendor asked.
   */
  readonly startLaunch: (
    operator: Operator,
    playerId: number,
    gameId: number,
    request: LaunchRequest,
    accepted: AcceptedSignature,
    done: (exit: Started<LaunchedGame, LaunchRefusal>) => void
  ) => boolean
}>()("pitboss/games/Launches") {
  static readonly layer = Layer.effect(
    Launches,
    Effect.gen(function*() {
      const actors = yield* PlayerActors
      const registers = yield* Registers
      const games = yield* Games
      const sessions = yield* SessionTokens
      const vendors = yield* VendorLaunches
      const idempotency = yield* Idempotency
      const openings = yield* OpeningSessions
      const scope = yield* Effect.scope

      /** The rule that opens a session, with the answer that `address` completes. */
      const opening = (
        game: Game,
        request: LaunchRequest,
        asked: AskedRegisters,
        address: (sessionToken: string, session: BetSession) => string | null
      ) => {
        const open = launchStep({ ...request, gameId: game.id, providerId: game.provider.id }, asked)
        const step: Step<LaunchedGame, LaunchRefusal> = (player, context) => {
          const decision = open(player, context)
          if (decision._tag !== "Accept") return decision
          const { expiresAt, sessionId } = decision.reply
          const sessionToken = sessions.issue({
            sessionId,
            playerId: player.id,
            operatorId: player.operatorId,
            gameId: game.id,
            providerId: game.provider.id,
            mode: request.mode,
            expiresAt
          })
          return {
            ...decision,
            reply: {
              mode: request.mode,
              gameId: game.id,
              launchUrl: address(sessionToken, { id: sessionId, expiresAt }),
              sessionToken,
              expiresAt,
              isOriginal: game.original !== null
            }
          }
        }
        return step
      }

      const openingHere = (game: Game, request: LaunchRequest, asked: AskedRegisters) =>
        opening(game, request, asked, (token) => launchUrl(game, request.mode, token))

      const endSessionAnywhere = (yield* RemoteCommands).define({
        name: "session.end",
        payload: Schema.Struct({ id: Schema.Number, expiresAt: Schema.Number }),
        run: (playerId, session) => actors.ask(null, playerId, endSession(session))
      })

      /**
       * Ends the sessions of a launch that came to nothing, at the node that the player is of by now: first its own, so that the vendor gets no other in
       * exchange, then those that it got meanwhile.
       */
      const endSessions = (playerId: number, launch: OpeningLaunch) =>
        Effect.suspend(() =>
          Effect.forEach(launch.sessions(), (session) => endSessionAnywhere(playerId, session), { discard: true })
        )

      /** The same as soon as the database takes it. Bets wait until then. */
      const endLater = (playerId: number, launch: OpeningLaunch) =>
        Effect.retry(endSessions(playerId, launch), endings).pipe(
          Effect.ignore,
          Effect.andThen(Effect.sync(launch.close)),
          Effect.forkIn(scope)
        )

      /** The same before the failure is answered or, where the database does not take it, as soon as it does. */
      const endFailedLaunch = (playerId: number, launch: OpeningLaunch) =>
        Effect.matchEffect(endSessions(playerId, launch), {
          onFailure: () => endLater(playerId, launch),
          onSuccess: () => Effect.sync(launch.close)
        })

      /**
       * Ends a launch whose session was not seen to be written. After an unknown outcome it may stand, and nobody has its token: it is ended, should it be
       * there.
       */
      const endUnopened = (playerId: number, launch: OpeningLaunch, cause: Cause.Cause<Refusal>) => {
        const failure = Cause.findErrorOption(cause)
        return failure._tag === "Some" && !leavesOutcomeOpen(failure.value)
          ? Effect.sync(launch.close)
          : endLater(playerId, launch)
      }

      /** Opens a session. Without a key an unknown outcome must not be repeated: that could open a second one. */
      const openSession = (
        operatorId: number,
        playerId: number,
        step: Step<LaunchedGame, LaunchRefusal>,
        { claim }: KeyedReply<LaunchedGame>
      ) => {
        const opened = actors.ask(operatorId, playerId, step)
        return claim === undefined ? Effect.mapError(opened, refusingOnce) : opened
      }

      const launchAtVendor = Effect.fnUntraced(
        function*(
          operatorId: number,
          playerId: number,
          game: Game,
          request: LaunchRequest,
          answering: KeyedReply<LaunchedGame>,
          asked: AskedRegisters
        ) {
          const { claim, render } = answering
          if (request.mode === "demo") {
            // asked again where the player moves meanwhile: the vendor is given no token, and one of the requests opens a session
            const player = yield* actors.read(operatorId, playerId)
            const address = yield* vendors.address(game, player, request, "")
            return yield* openSession(
              operatorId,
              playerId,
              storingReply(opening(game, request, asked, () => address), claim, render),
              answering
            )
          }
          // the vendor may call as soon as it knows the token: the session is there before it is asked, and bets wait for its answer
          const launch = openings.begin()
          const step = opening(game, request, asked, (_, session) => {
            launch.add(session)
            return null
          })
          const opened = yield* Effect.onError(
            openSession(operatorId, playerId, step, answering),
            (cause) => endUnopened(playerId, launch, cause)
          )
          const launchUrl = yield* actors.read(operatorId, playerId).pipe(
            Effect.flatMap((player) => vendors.address(game, player, request, opened.sessionToken)),
            // a defect as well leaves no session
            Effect.onError(() => endFailedLaunch(playerId, launch))
          )
          launch.close()
          const launched = { ...opened, launchUrl }
          if (claim === undefined) return launched
          // not through the actor: the player may be of another node by now, which would ask the vendor again, or may have answered a retry
          const createdAt = yield* Clock.currentTimeMillis
          yield* idempotency.insert({ ...claim, ...render(launched), createdAt }).pipe(
            Effect.tap(() => Effect.sync(() => idempotency.noteStored(claim))),
            // `Idempotency.guard` tries again
            Effect.catchTag("SqlError", () => Effect.void),
            // another node was faster: `Idempotency.guard` gives its answer
            Effect.catchTag(
              "Refusal",
              () => Effect.andThen(endFailedLaunch(playerId, launch), Effect.fail(temporarilyUnavailable))
            )
          )
          return launched
        }
      )

      /** Plans a launch: the session that is opened here, or the game whose vendor has to be asked. */
      const planLaunch = (
        operatorId: number,
        playerId: number,
        gameId: number,
        request: LaunchRequest,
        known: KnownGame,
        asked: AskedRegisters
      ): PlayerCommand<LaunchedGame, LaunchRefusal> | AtVendor | Lacking<KnownGame, GameRefusal> => {
        const warm = games.findUnsafe(gameId)
        const game = warm?.active === true ? warm : known.game
        if (game === undefined) {
          return { _tag: "Lacking", lookUp: () => Effect.map(games.get(gameId), (game) => ({ game })) }
        }
        return isOfVendor(game)
          ? { _tag: "AtVendor", game }
          : { operatorId, playerId, step: openingHere(game, request, asked), isNameless: true }
      }

      const launch: Launches["Service"]["launch"] = Effect.fn("Launches.launch")(
        (operatorId, playerId, gameId, request, answering) =>
          registers.through(
            playerId,
            "play",
            Effect.fnUntraced(function*(asked) {
              const plan = yield* planned(
                noGame,
                (known: KnownGame) => planLaunch(operatorId, playerId, gameId, request, known, asked)
              )
              return yield* "game" in plan
                ? launchAtVendor(operatorId, playerId, plan.game, request, answering, asked)
                : runCommand(actors, plan, answering)
            })
          )
      )

      const startLaunch: Launches["Service"]["startLaunch"] = (
        operator,
        playerId,
        gameId,
        request,
        accepted,
        done
      ) => {
        const plan = planLaunch(operator.id, playerId, gameId, request, noGame, nobodyAsked)
        if ("_tag" in plan || request.mode === "real" && registers.mayAsk(operator, playerId, "play")) return false
        startCommand(actors, plan, accepted, done)
        return true
      }

      const mustExist: Launches["Service"]["mustExist"] = Effect.fn("Launches.mustExist")(
        function*(operatorId, playerId, gameId) {
          yield* actors.read(operatorId, playerId)
          yield* games.get(gameId)
        }
      )

      return Launches.of({ mustExist, launch, startLaunch })
    })
  )
}
