/** Wire schemas of originals, the platform's own games: bets, rounds, seeds and proofs. */
import { Schema } from "effect"
import { clientSeedMessages } from "../../domain/state/Seeds.ts"
import { amountFrom } from "../common/Fields.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"
import { Transaction } from "../ledger/TransactionResource.ts"

const hash = Schema.String.annotate({
  description: "SHA-256 of the server seed, which decides the rounds and is shown when it is retired.",
  examples: ["7d6c0f37069a3f46d00fb0355cbc1783f14f1107dfcd378c39bc7e9706fd6478"]
})
const serverSeed = Schema.String.annotate({
  examples: ["b5137f1c6c42c0d5b35b401db38350c75937fdb6cbb27eadf759b52497985cd8"]
})
const shownClientSeed = Schema.String.annotate({ examples: ["lucky-7"] })
const nonce = Schema.Int.annotate({ description: "Counts the rounds under a server seed, from 0.", examples: [12] })
const roundId = Schema.String.annotate({
  description: "Also the `game_round_id` of the ledger entries.",
  examples: ["481516"]
})
const original = Schema.String.annotate({ description: "The built-in game.", examples: ["dice"] })
const multiplier = Schema.Finite.annotate({
  description: "What the stake was multiplied by: four decimals, 0 when the bet is lost.",
  examples: [1.9603]
})

/** Object whose fields depend on the game. */
const details = (description: string, example: { readonly [field: string]: unknown }) =>
  Schema.Record(Schema.String, Schema.Unknown).annotate({ description, examples: [example] })

const params = details("What the game lets the player choose.", { direction: "under", target: 50.5 })
const outcome = details("The choice, and what chance made of it.", {
  direction: "under",
  target: 50.5,
  roll: 12.76,
  won: true
})

/** A client seed that a player sends. */
const clientSeed = Schema.String.annotate({
  description: "The player's part of chance, 1 to 64 visible ASCII characters; counts from this round on.",
  examples: ["lucky-7"]
}).check(
  Schema.makeFilter((text: string) => clientSeedMessages(text).length === 0, {
    message: "must be 1 to 64 visible ASCII characters without spaces",
    expected: "a client seed"
  })
)

/** A bet on an original. */
export const Play = Schema.Struct({ stake: amountFrom(1), params, client_seed: Schema.optionalKey(clientSeed) })

/** Body of a seed rotation; an empty body keeps the client seed. */
export const Rotation = Schema.Struct({ client_seed: Schema.optionalKey(clientSeed) })

const RoundFairness = Schema.Struct({ server_seed_hash: hash, client_seed: shownClientSeed, nonce })

/** A round of an original as it was just played. */
export const PlayedRound = Schema.Struct({
  round_id: roundId,
  game_id: id,
  original,
  stake: money,
  payout: money,
  multiplier,
  outcome,
  currency: currencyCode,
  balance: money,
  bonus_balance: money,
  wallet_seq: Schema.Int.annotate({ description: "Rises by one with every action that moves the player's money." }),
  transactions: Schema.Array(Transaction).annotate({
    description: "All that the play wrote to the ledger, what became of a bonus with it included."
  }),
  fairness: RoundFairness,
  created_at: timestamp
}).annotate({ identifier: "PlayedRound" })

/** The seeds that decide a player's next round. */
export const Fairness = Schema.Struct({
  server_seed_hash: hash,
  next_server_seed_hash: hash.annotate({ description: "Of the server seed that the next rotation takes into use." }),
  client_seed: shownClientSeed,
  nonce: nonce.annotate({ description: "Of the next round." })
}).annotate({ identifier: "Fairness" })

/** The seeds after a rotation, and the one that it retired. */
export const RotatedFairness = Schema.Struct({
  ...Fairness.fields,
  retired: Schema.Struct({
    server_seed: serverSeed,
    server_seed_hash: hash,
    rounds: Schema.Int.annotate({ description: "How many rounds it decided: those with nonce 0 to this less one." })
  })
}).annotate({ identifier: "RotatedFairness" })

/** A round with all that proves it. */
export const RoundProof = Schema.Struct({
  round_id: roundId,
  game_id: id,
  original,
  stake: money,
  payout: money,
  multiplier,
  params,
  outcome,
  currency: currencyCode,
  created_at: timestamp,
  fairness: Schema.Struct({
    ...RoundFairness.fields,
    server_seed: Schema.NullOr(serverSeed).annotate({ description: "Null until a rotation retires it." })
  }),
  verification: Schema.Struct({
    hash: Schema.String.annotate({ description: "What the hash is made of." }),
    block: Schema.String.annotate({ description: "What the numbers of the round are made of, cursor 0, 1, 2, …" })
  }).annotate({ description: "How to make hash and outcome again." })
}).annotate({ identifier: "RoundProof" })

/** The recipe in words, for the reference. */
export const recipe =
  "**Verify a round.** The SHA-256 of the server seed's text is the hash that was shown before the bet. Block `cursor` (0, 1, 2, …) of " +
  "the round is HMAC-SHA256 under the server seed's text of `client_seed:nonce:cursor`. Its bytes are read as words of four, the most " +
  "significant first. A number below n takes the next word, skips it when it is 2^32 − (2^32 mod n) or more, and is else the word modulo " +
  "n. `dice`: roll = below(10000) ÷ 100. `limbo`: u = below(2^14) × 2^32 + below(2^32), result = floor(99 × 2^46 ÷ (u + 1)) ÷ 100, from 1 " +
  "to 1000000. `coin_flip`: heads when below(2) is 0. `plinko`: for each row left when below(2) is 0, else right. `mines`: of the cells 0 " +
  "to 24 that are left take out number below(how many are left), once per mine."
