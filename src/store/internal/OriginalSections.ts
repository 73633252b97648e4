/** CTEs of the commit statement that write rounds of originals, the provably fair games decided in this service, and their server seeds. */
import type { OriginalRound } from "../../domain/state/Change.ts"
import type { SeedChange } from "../../domain/state/PlayerSeeds.ts"
import {
  bytes,
  type Column,
  columnNamed,
  flag,
  insertInto,
  number,
  type Section,
  text,
  time
} from "./StatementSections.ts"

const roundColumns: ReadonlyArray<Column<OriginalRound>> = [
  number("id", (round) => round.id),
  number("player_id", (round) => round.playerId),
  number("operator_id", (round) => round.operatorId),
  number("game_id", (round) => round.gameId),
  text("original", (round) => round.original),
  number("seed_id", (round) => round.seedId),
  number("nonce", (round) => round.nonce),
  text("client_seed", (round) => round.clientSeed),
  number("stake", (round) => round.stake),
  number("payout", (round) => round.payout),
  { ...number("multiplier", (round: OriginalRound) => round.multiplier), type: "numeric" },
  text("params", (round) => JSON.stringify(round.params), "jsonb"),
  text("outcome", (round) => JSON.stringify(round.outcome), "jsonb"),
  time("created_at", (round) => round.createdAt)
]

const seedColumns: ReadonlyArray<Column<SeedChange>> = [
  number("id", (seed) => seed.id),
  number("player_id", (seed) => seed.playerId),
  number("operator_id", (seed) => seed.operatorId),
  text("server_seed_hash", (seed) => seed.hash),
  bytes("server_seed_sealed", (seed) => seed.sealed ?? new Uint8Array()),
  text("server_seed", (seed) => seed.serverSeed),
  text("client_seed", (seed) => seed.clientSeed),
  time("created_at", (seed) => seed.createdAt),
  time("started_at", (seed) => seed.startedAt),
  time("retired_at", (seed) => seed.retiredAt),
  flag("lost", (seed) => seed.isLost)
]

export const originalRounds = insertInto("original_rounds", roundColumns)

export const newSeeds = insertInto("server_seeds", seedColumns)

/** Existing values are kept: each of these columns is written once. */
export const changedSeeds: Section<SeedChange> = {
  columns: seedColumns,
  query: (source) =>
    `UPDATE server_seeds t SET ${
      ["server_seed", "client_seed", "started_at", "retired_at"].map((name) =>
        `${name} = coalesce(t.${name}, ${columnNamed(seedColumns, name)})`
      ).join(", ")
    }, lost = t.lost OR ${columnNamed(seedColumns, "lost")} FROM ${source} WHERE t.id = ${
      columnNamed(seedColumns, "id")
    } AND t.player_id = ${columnNamed(seedColumns, "player_id")} AND t.operator_id = ${
      columnNamed(seedColumns, "operator_id")
    }`
}

/** Merges two changes of one seed in one commit into one row. */
export const mergeSeeds = (earlier: SeedChange | undefined, later: SeedChange): SeedChange =>
  earlier === undefined ? later : {
    ...earlier,
    clientSeed: earlier.clientSeed ?? later.clientSeed,
    startedAt: earlier.startedAt ?? later.startedAt,
    retiredAt: earlier.retiredAt ?? later.retiredAt,
    serverSeed: earlier.serverSeed ?? later.serverSeed,
    isLost: earlier.isLost || later.isLost
  }
