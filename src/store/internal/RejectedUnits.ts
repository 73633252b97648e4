/** Finds out which players' changes caused the rejection of a group commit (`docs/decisions/0036-rejected-commits.md`). */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Change } from "../../domain/state/Change.ts"
import type { Knowledge } from "../../domain/state/Decision.ts"
import type { Player } from "../../domain/state/Player.ts"
import type { Rejected } from "../../engine/Failures.ts"
import type { Unit, Verdict } from "../../engine/Machine.ts"
import { birthKey, claims, judgeClashes, replyKey } from "./Claims.ts"
import { numbers, texts } from "../../platform/ArrayParameters.ts"
import { isBirth } from "./CommitRows.ts"
import type { makeLookUp } from "./PlayerLookups.ts"

type PlayerUnit = Unit<Player, Change>

const versionsText = `SELECT player_id::float8 AS "playerId", version::float8 AS version
  FROM accounts WHERE player_id = ANY ($1::float8[]::bigint[])`

const repliesText = `SELECT k.scope, k.key FROM unnest($1::text[], $2::text[]) AS u(scope, key)
  JOIN idempotency_keys k ON k.scope = u.scope AND k.key = u.key`

const birthsText =
  `SELECT DISTINCT u.id FROM unnest($1::float8[], $2::float8[], $3::text[], $4::text[], $5::text[], $6::text[])
    AS u(id, operator_id, username, email, phone, external_id)
  CROSS JOIN LATERAL (
    SELECT FROM players p WHERE p.operator_id = u.operator_id::bigint AND lower(p.username) = lower(u.username)
    UNION ALL SELECT FROM players p WHERE p.operator_id = u.operator_id::bigint AND p.email = u.email
    UNION ALL SELECT FROM players p WHERE p.operator_id = u.operator_id::bigint AND p.phone = u.phone
    UNION ALL SELECT FROM players p WHERE p.operator_id = u.operator_id::bigint AND p.external_id = u.external_id
  ) AS p`

/**
 * The rows that a commit updates or refers to and that no other transaction locks: the rows of each kind carry the index of their unit, and rows
 * missing from the result are locked. The statement's own locks end with it.
 */
const freeText = (() => {
  let parameter = 0
  const kinds = [
    { name: "account", table: "accounts", lock: "NO KEY UPDATE", columns: { player_id: "bigint" } },
    // referenced players must not be deleted
    { name: "player", table: "players", lock: "KEY SHARE", columns: { id: "bigint" } },
    { name: "settings", table: "players", lock: "NO KEY UPDATE", columns: { id: "bigint" } },
    {
      name: "round",
      table: "rounds",
      lock: "NO KEY UPDATE",
      columns: { player_id: "bigint", game_id: "bigint", round_id: "text" }
    },
    { name: "payment", table: "payment_requests", lock: "NO KEY UPDATE", columns: { id: "bigint" } },
    { name: "bonus", table: "player_bonuses", lock: "NO KEY UPDATE", columns: { id: "bigint" } },
    { name: "promo", table: "promo_codes", lock: "NO KEY UPDATE", columns: { id: "bigint" } },
    { name: "seed", table: "server_seeds", lock: "NO KEY UPDATE", columns: { id: "bigint" } }
  ].map(({ columns, lock, name, table }) => {
    const keys = Object.entries(columns)
    const arrays = [...keys.map(([, type]) => type === "text" ? "text" : "float8"), "float8"].map((wire) =>
      `$${++parameter}::${wire}[]`
    )
    return {
      name,
      text: `${name} AS (SELECT u.unit FROM unnest(${arrays.join(", ")}) AS u(${
        [...keys.map(([key]) => key), "unit"].join(", ")
      }) JOIN ${table} t ON ${
        keys.map(([key, type]) => `t.${key} = u.${key}::${type}`).join(" AND ")
      } FOR ${lock} OF t SKIP LOCKED)`
    }
  })
  return `WITH ${kinds.map(({ text }) => text).join(", ")} ${
    kinds.map(({ name }) => `SELECT unit FROM ${name}`).join(" UNION ALL ")
  }`
})()

const decodeVersions = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ playerId: Schema.Number, version: Schema.Number }))
)
const decodeReplies = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ scope: Schema.String, key: Schema.String }))
)
const decodeBirths = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ id: Schema.Number })))
const decodeFree = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ unit: Schema.Number })))

/** Rows of all units, and the units' indexes. */
const numbered = <Row>(units: ReadonlyArray<PlayerUnit>, rowsOf: (unit: PlayerUnit) => ReadonlyArray<Row>) => {
  const rows = units.map(rowsOf)
  return { rows: rows.flat(), units: rows.flatMap((some, unit) => some.map(() => unit)) }
}

/** Distinct ids of each unit. */
const idsOf = (
  units: ReadonlyArray<PlayerUnit>,
  pick: (unit: PlayerUnit, change: Change) => ReadonlyArray<number>
) => numbered(units, (unit) => [...new Set(unit.changes.flatMap((change) => pick(unit, change)))])

/** A round opened by the same unit has no row yet. */
const oldRounds = (unit: PlayerUnit) => {
  const rounds = unit.changes.flatMap((change) => change.rounds)
  const isNew = ({ gameId, roundId }: { readonly gameId: number; readonly roundId: string }) =>
    rounds.some((one) => one.isNew && one.round.gameId === gameId && one.round.roundId === roundId)
  return [
    ...new Map(
      rounds.filter(({ round }) => !isNew(round)).map((
        { round }
      ) => [`${round.gameId} ${round.roundId}`, { ...round, playerId: unit.key }])
    ).values()
  ]
}

/** Ids of the existing rows that the changes write. */
const oldIds = <Row>(rows: ReadonlyArray<Row>, isNew: (row: Row) => boolean, id: (row: Row) => number) => {
  const made = new Set(rows.filter(isNew).map(id))
  return rows.map(id).filter((one) => !made.has(one))
}

const oldOf = <Row>(
  units: ReadonlyArray<PlayerUnit>,
  pick: (change: Change) => ReadonlyArray<Row>,
  isNew: (row: Row) => boolean,
  id: (row: Row) => number
) => numbered(units, (unit) => [...new Set(oldIds(unit.changes.flatMap(pick), isNew, id))])

/** Verdicts on all units, in one round trip. */
export const examineUnits = (sql: SqlClient.SqlClient, lookUp: ReturnType<typeof makeLookUp>) => {
  const fenced = (units: ReadonlyArray<PlayerUnit>) =>
    sql.unsafe(versionsText, [numbers(units.map(({ key }) => key))]).pipe(
      Effect.flatMap(decodeVersions),
      Effect.map((rows) => {
        const stored = new Map(rows.map(({ playerId, version }) => [playerId, version]))
        return units.map((unit): Verdict<Knowledge> => ({
          // who is written for the first time has no version that could have changed
          _tag: stored.get(unit.key) === (isBirth(unit) ? undefined : unit.version) ? "Valid" : "Fenced"
        }))
      })
    )

  const busy = (units: ReadonlyArray<PlayerUnit>) => {
    const indexes = units.flatMap((unit, index) => isBirth(unit) ? [] : [index])
    const keys = indexes.map((index) => units[index]!.key)
    const settings = idsOf(units, (unit, change) => change.settings === null || isBirth(unit) ? [] : [unit.key])
    const rounds = numbered(units, oldRounds)
    const payments = oldOf(units, ({ payments }) => payments, ({ isNew }) => isNew, ({ payment }) => payment.id)
    const bonuses = oldOf(units, ({ bonuses }) => bonuses, ({ isNew }) => isNew, ({ bonus }) => bonus.id)
    const promos = idsOf(units, (_, change) => change.redemptions.map(({ promoCodeId }) => promoCodeId))
    const seeds = oldOf(units, ({ seeds }) => seeds, ({ sealed }) => sealed !== null, ({ id }) => id)
    const wanted = [
      indexes,
      indexes,
      settings.units,
      rounds.units,
      payments.units,
      bonuses.units,
      promos.units,
      seeds.units
    ]
    const counted = new Map<number, number>()
    for (const index of wanted.flat()) counted.set(index, (counted.get(index) ?? 0) + 1)
    return sql.unsafe(freeText, [
      numbers(keys),
      numbers(indexes),
      numbers(keys),
      numbers(indexes),
      numbers(settings.rows),
      numbers(settings.units),
      numbers(rounds.rows.map(({ playerId }) => playerId)),
      numbers(rounds.rows.map(({ gameId }) => gameId)),
      texts(rounds.rows.map(({ roundId }) => roundId)),
      numbers(rounds.units),
      ...[payments, bonuses, promos, seeds].flatMap(({ rows, units }) => [numbers(rows), numbers(units)])
    ]).pipe(
      Effect.flatMap(decodeFree),
      Effect.map((rows) => {
        for (const { unit } of rows) counted.set(unit, (counted.get(unit) ?? 0) - 1)
        return units.map((_, index): Verdict<Knowledge> => ({ _tag: (counted.get(index) ?? 0) > 0 ? "Busy" : "Valid" }))
      })
    )
  }

  const takenReplies = (units: ReadonlyArray<PlayerUnit>) => {
    const replies = units.flatMap(({ changes }) => changes.flatMap((change) => change.replies))
    return replies.length === 0 ? Effect.succeed(new Set<string>()) : Effect.map(
      Effect.flatMap(
        sql.unsafe(repliesText, [texts(replies.map(({ scope }) => scope)), texts(replies.map(({ key }) => key))]),
        decodeReplies
      ),
      (rows) => new Set(rows.map(replyKey))
    )
  }

  /** Births of which another player has a unique field. */
  const takenBirths = (units: ReadonlyArray<PlayerUnit>) => {
    const births = units.flatMap(({ changes }) => changes.flatMap(({ birth }) => birth === null ? [] : [birth]))
    return births.length === 0 ? Effect.succeed([]) : Effect.map(
      Effect.flatMap(
        sql.unsafe(birthsText, [
          numbers(births.map(({ id }) => id)),
          numbers(births.map(({ operatorId }) => operatorId)),
          texts(births.map(({ texts }) => texts.username)),
          texts(births.map(({ texts }) => texts.email)),
          texts(births.map(({ texts }) => texts.phone)),
          texts(births.map(({ texts }) => texts.external_id))
        ]),
        decodeBirths
      ),
      (rows) => rows.map(birthKey)
    )
  }

  const clashes = Effect.fnUntraced(function*(units: ReadonlyArray<PlayerUnit>) {
    const requests = units.flatMap(({ before, changes }) =>
      changes.map((change) => ({ player: before, query: claims(before, change), known: undefined }))
    )
    const [known, replies, births] = yield* Effect.all([lookUp(requests), takenReplies(units), takenBirths(units)], {
      concurrency: 3
    })
    let next = 0
    return judgeClashes(
      units,
      units.map(({ changes }) => known.slice(next, next += changes.length)),
      new Set([...replies, ...births])
    )
  })

  return (units: ReadonlyArray<PlayerUnit>, because: Rejected["because"]) =>
    because === "clash" ? clashes(units) : because === "fenced" ? fenced(units) : busy(units)
}
