/**
 * Originals, the platform's own games: rounds, the seeds that decide them, and the proof of each round.
 *
 * The rules of `domain/original/OriginalRounds.ts` run in the player's actor. If a rule lacks a seed, it is generated or decrypted here, and the
 * rule runs again.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { PgTypes } from "@effect/sql-pg"
import { SqlClient } from "effect/sql"
import { oneForOne, parseFactor, thresholdIn } from "../../domain/CurrencyConversion.ts"
import type { Step } from "../../domain/state/Decision.ts"
import { cappedCategory } from "../../domain/jurisdiction/GameCategories.ts"
import type { Operator } from "../../domain/state/Operator.ts"
import type { RenderedReply } from "../../domain/state/Idempotency.ts"
import { type LostSeedsRetired, retireLostSeedsStep } from "../../domain/original/LostSeeds.ts"
import type { SettledGame } from "../../domain/state/Messages.ts"
import {
  type NoSeeds,
  type PlayedRound,
  type PlayRefusal,
  playStep,
  type RotatedSeeds,
  rotateSeedsStep,
  type SeedClosed,
  startSeedsStep
} from "../../domain/original/OriginalRounds.ts"
import type { Original } from "../../domain/original/Original.ts"
import { originals } from "../../domain/original/Originals.ts"
import type { PlayerSeeds } from "../../domain/state/PlayerSeeds.ts"
import type { ReadBet } from "../../domain/original/ReadBet.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { type KeyedReply, storingReply } from "../../domain/state/StoringReply.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { type ActorRefusal, PlayerActors, refusingOnce } from "../../store/PlayerActors.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { openSeedsText, SeedRow, toSeeds } from "../../store/SeedRows.ts"
import { Games } from "../games/Games.ts"
import { hmacSha256, ServerSeeds } from "./ServerSeeds.ts"

/** A game of the catalogue that is played here. */
export interface OriginalGame {
  readonly game: SettledGame
  readonly original: Original
}

/** A round with all that proves it. */
export interface RoundProof {
  readonly roundId: string
  readonly gameId: number
  readonly original: string
  /** Minor units. */
  readonly stake: number
  readonly payout: number
  readonly multiplier: number
  readonly params: { readonly [name: string]: unknown }
  readonly outcome: { readonly [name: string]: unknown }
  readonly currency: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly serverSeedHash: string
  readonly clientSeed: string
  readonly nonce: number
  /** Null until it is retired. */
  readonly serverSeed: string | null
}

/** How often a rule is asked again because the seed it needs was not open: seeds change only when they are rotated. */
const maxAttempts = 5

const clientSeedLength = 16

const noSuchRound = refuse("NOT_FOUND", "There is no such round.")
const rotatedTooOften = refuse("TRY_AGAIN", "The seeds changed while this was decided. Send the same request again.", {
  retry: "same_request"
})

const seedRows = rowsOf(SeedRow)
const factors = rowsOf(Schema.Struct({ factor: Schema.String }))
const JsonObject = Schema.Record(Schema.String, Schema.Unknown)
const roundRows = rowsOf(Schema.Struct({
  roundId: Schema.String,
  gameId: Schema.Number,
  original: Schema.String,
  stake: Schema.Number,
  payout: Schema.Number,
  multiplier: Schema.Number,
  params: JsonObject,
  outcome: JsonObject,
  currency: Schema.String,
  createdAt: Schema.Date,
  serverSeedHash: Schema.String,
  clientSeed: Schema.String,
  nonce: Schema.Number,
  serverSeed: Schema.NullOr(Schema.String)
}))

export class Originals extends Context.Service<Originals, {
  /** A game on offer as it is played here; undefined when it is its provider's. */
  readonly find: (gameId: number) => Effect.Effect<OriginalGame | undefined, Refusal<"NOT_FOUND" | "TRY_AGAIN">>
  /** Plays one round: bet, outcome and payout in one commit. */
  readonly play: (
    operator: Operator,
    playerId: number,
    game: OriginalGame,
    bet: ReadBet,
    answering: KeyedReply<PlayedRound>
  ) => Effect.Effect<PlayedRound, PlayRefusal | ActorRefusal>
  /** The seeds that decide the player's next round, made where there are none yet. */
  readonly seeds: (operatorId: number, playerId: number) => Effect.Effect<PlayerSeeds, ActorRefusal>
  /** Retires the server seed, which the answer reveals, and takes the promised one into use. */
  readonly rotate: (
    operatorId: number,
    playerId: number,
    clientSeed: string | undefined,
    answering: KeyedReply<RotatedSeeds>
  ) => Effect.Effect<RotatedSeeds, ActorRefusal>
  /** Retires a player's seeds whose encryption key is lost; no-op when all can be decrypted. */
  readonly retireLost: (
    playerId: number,
    command: { readonly reason: string; readonly actor: string }
  ) => Effect.Effect<LostSeedsRetired, ActorRefusal>
  /** A round of a player of the operator. */
  readonly round: (
    operatorId: number,
    playerId: number,
    roundId: number
  ) => Effect.Effect<RoundProof, Refusal<"NOT_FOUND" | "TRY_AGAIN">>
}>()("pitboss/originals/Originals") {
  static readonly layer = Layer.effect(
    Originals,
    Effect.gen(function*() {
      const actors = yield* PlayerActors
      const entropy = yield* Entropy
      const games = yield* Games
      const serverSeeds = yield* ServerSeeds
      const sql = yield* SqlClient.SqlClient
      const chance = { open: serverSeeds.peek, hmacSha256 }

      const find = Effect.fnUntraced(function*(gameId: number) {
        const game = yield* games.get(gameId)
        const original = game.original === null ? undefined : originals.get(game.original)
        if (original === undefined) return undefined
        // originals contribute in full to wagering, independent of their category
        return {
          game: {
            id: game.id,
            providerId: game.provider.id,
            type: "rng",
            category: cappedCategory("rng", game.category),
            active: game.active
          },
          original
        } satisfies OriginalGame
      })

      const start = (operatorId: number, playerId: number) =>
        Effect.suspend(() =>
          actors.ask(
            operatorId,
            playerId,
            startSeedsStep({
              first: serverSeeds.make(playerId),
              second: serverSeeds.make(playerId),
              clientSeed: entropy.token("", clientSeedLength)
            })
          )
        )

      /** Asks a rule until it has the seed that it needs. */
      const withSeeds = Effect.fnUntraced(
        function*<Done extends PlayedRound | RotatedSeeds, E extends Refusal>(
          operatorId: number,
          playerId: number,
          step: Step<Done | NoSeeds | SeedClosed, E>
        ): Effect.fn.Return<Done, E | ActorRefusal> {
          for (let attempt = 0; attempt < maxAttempts; attempt++) {
            const reply = yield* actors.ask(operatorId, playerId, step)
            if (reply._tag === "NoSeeds") yield* start(operatorId, playerId)
            else if (reply._tag === "SeedClosed") yield* serverSeeds.open(playerId, reply.seedId)
            else return reply
          }
          return yield* Effect.fail(rotatedTooOften)
        }
      )

      /** A read of a seed writes nothing, so that no reply is stored for it */
      const rendering =
        <Done extends PlayedRound | RotatedSeeds>(render: (done: Done) => RenderedReply) =>
        (reply: Done | NoSeeds | SeedClosed): RenderedReply =>
          reply._tag === "NoSeeds" || reply._tag === "SeedClosed" ? { status: 503, body: "" } : render(reply)

      /** An operator's bounds in a player's currency, at the rate that holds now; one for one where there is none. */
      const boundsIn = Effect.fnUntraced(function*(operator: Operator, currency: string) {
        const { currency: base, originalMaxPayout: maxPayout, originalMaxStake: maxStake } = operator
        if (currency === base) return { maxStake, maxPayout }
        const row = yield* orTryAgain(oneOf(factors(
          sql`SELECT factor::text AS factor FROM exchange_rates WHERE currency = ${currency} AND base = ${base}
            ORDER BY id DESC LIMIT 1`
        )))
        const factor = (row === undefined ? undefined : parseFactor(row.factor)) ?? oneForOne
        return {
          maxStake: thresholdIn(maxStake, factor) ?? maxStake,
          maxPayout: thresholdIn(maxPayout, factor) ?? maxPayout
        }
      })

      const play: Originals["Service"]["play"] = Effect.fn("Originals.play")(
        function*(operator, playerId, { game, original }, { bet, clientSeed }, { claim, render }) {
          const { currency } = yield* actors.read(operator.id, playerId)
          const bounds = yield* boundsIn(operator, currency)
          const step = playStep({ game, original: original.name, bet, bounds, clientSeed }, chance)
          const played = withSeeds(operator.id, playerId, storingReply(step, claim, rendering(render)))
          return yield* claim === undefined ? Effect.mapError(played, refusingOnce) : played
        }
      )

      const rotate: Originals["Service"]["rotate"] = Effect.fn("Originals.rotate")(
        function*(operatorId, playerId, clientSeed, { claim, render }) {
          const step = rotateSeedsStep({ fresh: serverSeeds.make(playerId), clientSeed }, chance)
          const rotated = withSeeds(operatorId, playerId, storingReply(step, claim, rendering(render)))
          return yield* claim === undefined ? Effect.mapError(rotated, refusingOnce) : rotated
        }
      )

      // From the table and not from the actor: where several services work, this one may not have heard of a rotation.
      const seeds: Originals["Service"]["seeds"] = Effect.fn("Originals.seeds")(function*(operatorId, playerId) {
        yield* actors.read(operatorId, playerId)
        const rows = yield* orTryAgain(seedRows(sql.unsafe(openSeedsText, [PgTypes.float8(playerId)])))
        return toSeeds(rows) ?? (yield* start(operatorId, playerId))
      })

      const retireLost: Originals["Service"]["retireLost"] = Effect.fn("Originals.retireLost")(
        function*(playerId, command) {
          const lost = new Set(yield* serverSeeds.lost(playerId))
          const fresh = { first: serverSeeds.make(playerId), second: serverSeeds.make(playerId) }
          return yield* actors.ask(null, playerId, retireLostSeedsStep({ ...command, lost, fresh }))
        }
      )

      const round: Originals["Service"]["round"] = Effect.fn("Originals.round")(
        function*(operatorId, playerId, roundId) {
          const row = yield* orTryAgain(oneOf(roundRows(
            sql`SELECT r.id::text AS "roundId", r.game_id AS "gameId", r.original, r.stake,
                r.payout, r.multiplier::float8 AS multiplier, r.params, r.outcome, p.currency,
                r.created_at AS "createdAt", s.server_seed_hash AS "serverSeedHash", r.client_seed AS "clientSeed",
                r.nonce, s.server_seed AS "serverSeed"
              FROM original_rounds r JOIN server_seeds s ON s.id = r.seed_id JOIN players p ON p.id = r.player_id
              WHERE r.id = ${roundId}::float8::bigint AND r.player_id = ${playerId}::float8::bigint
                AND r.operator_id = ${operatorId}::float8::bigint`
          )))
          if (row === undefined) return yield* Effect.fail(noSuchRound)
          return { ...row, createdAt: row.createdAt.getTime() }
        }
      )

      return Originals.of({ find, play, seeds, rotate, retireLost, round })
    })
  ).pipe(Layer.provide(ServerSeeds.layer))
}
