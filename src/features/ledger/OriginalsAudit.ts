/**
 * Verification of originals, the platform's own games: rounds match their entries, server seeds were used in order and match their commitment, and
 * every round with a revealed seed has the outcome that seeds and rules give.
 *
 * Outcomes are not sampled: a wrongly paid round would pass most samples. The cost is one read of the rounds and some hundredths of a millisecond
 * each.
 */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Equal, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { drawsOf } from "../../domain/original/Fairness.ts"
import { originals } from "../../domain/original/Originals.ts"
import { hmacSha256 } from "../originals/ServerSeeds.ts"
import { rowsOf } from "../../store/Rows.ts"
import {
  inScope,
  type LedgerInvariant,
  maxViolations,
  type VerificationScope,
  type Violation
} from "./LedgerInvariant.ts"

export const originalInvariants: ReadonlyArray<LedgerInvariant> = [
  {
    rule: "original_round_is_its_entries",
    statement: `SELECT r.player_id, 'round ' || r.id AS subject, 'a stake of ' || r.stake || ' that paid ' || r.payout
        || ' has entries of ' || coalesce(e.staked, 0) || ' staked, ' || coalesce(e.won, 0) || ' won and '
        || coalesce(e.others, 0) || ' others' AS message
      FROM (SELECT * FROM $originalRounds n WHERE $operator) r
      LEFT JOIN (SELECT player_id, game_id, game_round_id,
          sum(CASE type WHEN 'casino_bet' THEN -amount ELSE 0 END) AS staked,
          sum(CASE type WHEN 'casino_win' THEN amount ELSE 0 END) AS won,
          count(*) FILTER (WHERE type NOT IN ('casino_bet', 'casino_win')) AS others
        FROM $entries n WHERE $operator AND game_round_id IS NOT NULL GROUP BY player_id, game_id, game_round_id) e
        ON e.player_id = r.player_id AND e.game_id = r.game_id AND e.game_round_id = r.id::text
      WHERE coalesce(e.staked, 0) <> r.stake OR coalesce(e.won, 0) <> r.payout OR coalesce(e.others, 0) <> 0`
  },
  {
    rule: "original_round_pays_its_multiplier",
    statement: `SELECT player_id, 'round ' || id AS subject,
        'a stake of ' || stake || ' at ' || multiplier || ' paid ' || payout AS message
      FROM $originalRounds r WHERE $operator AND payout <> floor(stake * multiplier)`
  },
  {
    rule: "original_round_has_its_seed",
    statement:
      `SELECT r.player_id, 'round ' || r.id AS subject, 'its server seed is not one that the player used' AS message
      FROM (SELECT * FROM $originalRounds n WHERE $operator) r
      LEFT JOIN server_seeds s ON s.id = r.seed_id AND s.player_id = r.player_id AND s.started_at IS NOT NULL
      WHERE s.id IS NULL`
  },
  {
    rule: "nonces_without_gap",
    statement: `SELECT min(player_id) AS player_id, 'server seed ' || seed_id AS subject,
        count(*) || ' rounds, the last of which has nonce ' || max(nonce) AS message
      FROM original_rounds WHERE $operator GROUP BY seed_id HAVING max(nonce) + 1 <> count(*)`,
    // all rounds of the seeds that were used since
    incremental: `SELECT used.player_id, 'server seed ' || used.seed_id AS subject,
        of.rounds || ' rounds, the last of which has nonce ' || of.last AS message
      FROM (SELECT DISTINCT player_id, seed_id FROM $originalRounds n WHERE $operator) used
      CROSS JOIN LATERAL (SELECT count(*) AS rounds, max(nonce) AS last FROM original_rounds r
        WHERE r.seed_id = used.seed_id OFFSET 0) of
      WHERE of.last + 1 <> of.rounds`
  },
  {
    rule: "one_seed_in_use",
    statement: `SELECT player_id, 'player ' || player_id AS subject,
        count(*) FILTER (WHERE started_at IS NOT NULL AND retired_at IS NULL) || ' server seeds in use and '
          || count(*) FILTER (WHERE started_at IS NULL) || ' promised' AS message
      FROM server_seeds WHERE $operator GROUP BY player_id
      HAVING count(*) FILTER (WHERE started_at IS NOT NULL AND retired_at IS NULL) <> 1
        OR count(*) FILTER (WHERE started_at IS NULL) <> 1`
  },
  {
    rule: "seed_is_its_hash",
    statement: `SELECT player_id, 'server seed ' || id AS subject, 'was promised by another hash' AS message
      FROM server_seeds WHERE $operator AND server_seed IS NOT NULL AND (retired_at >= $since) IS NOT FALSE
        AND encode(sha256(convert_to(server_seed, 'UTF8')), 'hex') <> server_seed_hash`
  }
]

const JsonObject = Schema.Record(Schema.String, Schema.Unknown)

const RevealedRound = Schema.Struct({
  id: Schema.Number,
  playerId: Schema.Number,
  original: Schema.String,
  seedId: Schema.Number,
  nonce: Schema.Number,
  clientSeed: Schema.String,
  serverSeed: Schema.String,
  stake: Schema.Number,
  payout: Schema.Number,
  multiplier: Schema.Number,
  params: JsonObject,
  outcome: JsonObject
})

const revealedRounds = rowsOf(RevealedRound)

const roundsPerPage = 5000

/** Expected outcome of a round; undefined when it could not have been played. */
const playAgain = ({ clientSeed, nonce, original, params, serverSeed, stake }: typeof RevealedRound.Type) => {
  const checked = originals.get(original)?.check(params, stake)
  return checked?._tag === "Checked"
    ? checked.play(drawsOf(hmacSha256, { serverSeed, clientSeed, nonce }))
    : undefined
}

const isCorrect = (round: typeof RevealedRound.Type): boolean => {
  const again = playAgain(round)
  return again !== undefined && again.payout === round.payout && again.multiplier === round.multiplier &&
    Equal.equals(again.outcome, round.outcome)
}

/** Rounds with a revealed seed whose outcome differs from the expected one; of a scope that is new, those whose seed was revealed since. */
export const findWrongOutcomes = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, scope: VerificationScope) {
  const text = inScope(
    `SELECT r.id, r.player_id AS "playerId", r.original, r.seed_id AS "seedId",
      r.nonce, r.client_seed AS "clientSeed", s.server_seed AS "serverSeed", r.stake,
      r.payout, r.multiplier::float8 AS multiplier, r.params, r.outcome
    FROM (SELECT * FROM original_rounds WHERE $operator) r
    JOIN server_seeds s ON s.id = r.seed_id AND s.server_seed IS NOT NULL AND (s.retired_at >= $since) IS NOT FALSE
    WHERE (r.seed_id, r.nonce) > ($1::float8::bigint, $2::float8::bigint)
    ORDER BY r.seed_id, r.nonce LIMIT ${roundsPerPage}`,
    scope
  )
  const wrong: Array<Violation> = []
  let last = { seedId: 0, nonce: -1 }
  for (;;) {
    const rounds = yield* revealedRounds(
      sql.unsafe(text, [PgTypes.float8(last.seedId), PgTypes.float8(last.nonce)])
    )
    for (const round of rounds) {
      if (wrong.length >= maxViolations || isCorrect(round)) continue
      wrong.push({
        rule: "outcome_is_its_seeds",
        player_id: round.playerId,
        subject: `round ${round.id}`,
        message: `seeds and rules lead to another outcome than the one that paid ${round.payout}`
      })
    }
    const end = rounds.at(-1)
    if (end === undefined || rounds.length < roundsPerPage) return wrong
    last = end
  }
})
