/** Player API handlers for originals, the platform's own games (play, seeds, rounds), and the round proof that the operator API shares. */
import { Effect } from "effect"
import { Rotation } from "../../contract/originals/OriginalResource.ts"
import { CurrentClaim, CurrentPlayer } from "../../contract/common/Middleware.ts"
import type { PlayedRound, RotatedSeeds } from "../../domain/original/OriginalRounds.ts"
import type { PlayerSeeds } from "../../domain/state/PlayerSeeds.ts"
import { readBet, wrongForm } from "../../domain/original/ReadBet.ts"
import { refuse, refuseFields } from "../../domain/Refusal.ts"
import type { Originals, RoundProof } from "../../features/originals/Originals.ts"
import { iso } from "../../platform/Time.ts"
import { bodyObject, optionalBody } from "../../http/FormRules.ts"
import { jsonResponse } from "../../http/Refusals.ts"
import { entryFields } from "../../features/wallet/Entries.ts"

const answered = (data: object) => ({ status: 200, body: JSON.stringify({ data }) })

const renderPlayed = ({ balance, bonusBalance, currency, entries, fairness, round, walletSeq }: PlayedRound) =>
  answered({
    round_id: String(round.id),
    game_id: round.gameId,
    original: round.original,
    stake: round.stake,
    payout: round.payout,
    multiplier: round.multiplier,
    outcome: round.outcome,
    currency,
    balance,
    bonus_balance: bonusBalance,
    wallet_seq: walletSeq,
    transactions: entries.map(entryFields),
    fairness: {
      server_seed_hash: fairness.serverSeedHash,
      client_seed: fairness.clientSeed,
      nonce: fairness.nonce
    },
    created_at: iso(round.createdAt)
  })

const seedFields = ({ current, next }: PlayerSeeds) => ({
  server_seed_hash: current.serverSeedHash,
  next_server_seed_hash: next.serverSeedHash,
  client_seed: current.clientSeed,
  nonce: current.nonce
})

const renderRotated = ({ retired, seeds }: RotatedSeeds) =>
  answered({
    ...seedFields(seeds),
    retired: {
      server_seed: retired.serverSeed,
      server_seed_hash: retired.serverSeedHash,
      rounds: retired.rounds
    }
  })

/** A round with all that proves it, and how to make it again. */
export const proofFields = (proof: RoundProof) => ({
  round_id: proof.roundId,
  game_id: proof.gameId,
  original: proof.original,
  stake: proof.stake,
  payout: proof.payout,
  multiplier: proof.multiplier,
  params: proof.params,
  outcome: proof.outcome,
  currency: proof.currency,
  created_at: iso(proof.createdAt),
  fairness: {
    server_seed_hash: proof.serverSeedHash,
    client_seed: proof.clientSeed,
    nonce: proof.nonce,
    server_seed: proof.serverSeed
  },
  verification: {
    hash: "hex(SHA-256(server_seed))",
    block: `HMAC-SHA256(server_seed, "${proof.clientSeed}:${proof.nonce}:" + cursor)`
  }
})

const notAnOriginal = refuse("NOT_AN_ORIGINAL", "This game belongs to a provider. Launch it instead.")

const rotation = optionalBody(Rotation)

/** Handlers shared by operator and player endpoints. */
export const playerRounds = (originals: Originals["Service"]) => ({
  // Taken as it came: the params depend on the game, and every fault is reported at once.
  play: Effect.fnUntraced(function*(gameId: number) {
    const { operator, playerId } = yield* CurrentPlayer
    const game = yield* originals.find(gameId)
    const sent = yield* bodyObject
    if (game === undefined) {
      const wrong = wrongForm(sent)
      return yield* Effect.fail(wrong === undefined ? notAnOriginal : refuseFields(wrong))
    }
    const bet = readBet(game.original, sent)
    if (bet._tag === "Unreadable") return yield* Effect.fail(refuseFields(bet.fields))
    const played = yield* originals.play(operator, playerId, game, bet, {
      claim: yield* CurrentClaim,
      render: renderPlayed
    })
    const { body, status } = renderPlayed(played)
    return jsonResponse(status, body)
  }),
  fairness: Effect.gen(function*() {
    const { operator, playerId } = yield* CurrentPlayer
    return { data: seedFields(yield* originals.seeds(operator.id, playerId)) }
  }),
  rotate: Effect.gen(function*() {
    const { operator, playerId } = yield* CurrentPlayer
    const { client_seed: clientSeed } = yield* rotation
    const rotated = yield* originals.rotate(operator.id, playerId, clientSeed, {
      claim: yield* CurrentClaim,
      render: renderRotated
    })
    const { body, status } = renderRotated(rotated)
    return jsonResponse(status, body)
  }),
  round: Effect.fnUntraced(function*(roundId: number) {
    const { operator, playerId } = yield* CurrentPlayer
    return { data: proofFields(yield* originals.round(operator.id, playerId, roundId)) }
  })
})
