/**
 * Result of the last successful verification, from which the next one continues: the last seal (hash over all chains of links) verified, the audit
 * lines up to it, and the number and sums of each player's entries. Tagged under the chain's key, so that write access to the tables is not enough to
 * fake it (`docs/decisions/0029-chain-of-hashes.md`).
 */
import { Effect, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type * as Crypto from "node:crypto"
import { tagOf } from "../../chain/Chain.ts"
import { noHash } from "../../chain/Lines.ts"
import { equalSecrets } from "../../platform/Secrets.ts"
import { toDate } from "../../platform/Time.ts"
import { oneOf, rowsOf } from "../../store/Rows.ts"
import { type AuditSum, linksAfter, type VerifiedUntil } from "./LedgerInvariant.ts"

/** How much longer than a commit lasts, with clocks of nodes that differ, milliseconds: what is in no sealed link has a time from then on. */
const commitMs = 3_600_000

/** How much clocks of nodes differ at most, milliseconds: they are compared all the time. */
const clockMs = 300_000

/** Players per statement of what is kept: a few hundredths of a second. */
const playersPerPage = 20_000
const pauseMs = 20

const Kept = Schema.Struct({
  verifiedAt: Schema.Number,
  whollyAt: Schema.Number,
  seal: Schema.Number,
  sealHash: Schema.String,
  playersHash: Schema.String,
  auditLines: Schema.Number,
  auditSum: Schema.String,
  tag: Schema.Uint8Array
})
type Kept = Omit<typeof Kept.Type, "tag">

const keptRows = rowsOf(Kept)
const hashRows = rowsOf(Schema.Struct({ hash: Schema.String }))
const sealRows = rowsOf(Schema.Struct({ sealedAt: Schema.Number }))
const oldestRows = rowsOf(Schema.Struct({ at: Schema.NullOr(Schema.Number) }))
const numberRows = rowsOf(Schema.Struct({ seal: Schema.Number }))
const pageRows = rowsOf(Schema.Struct({ last: Schema.NullOr(Schema.Number), players: Schema.Number }))

/** Before the first verification, and since one that found something: everything is to be verified. */
const nothing = { seal: 0, sealHash: noHash }

const tagOfKept = (
  key: Crypto.KeyObject,
  { auditLines, auditSum, playersHash, seal, sealHash, verifiedAt, whollyAt }: Kept
): Uint8Array =>
  tagOf(
    key,
    JSON.stringify([
      "ledger verification",
      verifiedAt,
      whollyAt,
      seal,
      sealHash,
      playersHash,
      auditLines,
      auditSum
    ])
  )

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/** Hash of all that is kept of players, in blocks of some ten thousand: a text in PostgreSQL has its limit. */
const playersHash = (sql: SqlClient.SqlClient) =>
  hashRows(sql`SELECT encode(sha256(coalesce(string_agg(digest, '' ORDER BY block), '')), 'hex') AS hash
    FROM (SELECT player_id >> 16 AS block, sha256(convert_to(string_agg(concat_ws(',', player_id, operator_id, entries, real_balance,
        bonus_balance), ';' ORDER BY player_id), 'UTF8')) AS digest
      FROM ledger_verified_players GROUP BY player_id >> 16) blocks`).pipe(
    Effect.map(([found]) => found?.hash ?? "")
  )

const auditRows = rowsOf(Schema.Struct({ lines: Schema.Number, sum: Schema.String }))

/** Seed of the hashes of ids, which whoever writes tables alone does not know: no other lines come to the same sum. */
const seedOf = (key: Crypto.KeyObject): bigint => {
  const tag = tagOf(key, "ids of audit lines")
  return new DataView(tag.buffer, tag.byteOffset, tag.byteLength).getBigInt64(0)
}

const auditSumOf = (sql: SqlClient.SqlClient, key: Crypto.KeyObject, from: string) =>
  Effect.map(
    auditRows(sql.unsafe(
      `SELECT count(*)::float8 AS lines, coalesce(sum(hashtextextended(id::text, '${
        seedOf(key)
      }'::bigint)), 0)::text AS sum FROM ${from}`
    )),
    ([found]): AuditSum => ({ lines: found?.lines ?? 0, sum: BigInt(found?.sum ?? 0) })
  )

/** Audit lines that no link after a seal names: of a sound ledger those in the links up to it. */
export const auditUpTo = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  key: Crypto.KeyObject,
  seal: number
): Effect.fn.Return<AuditSum, SqlError.SqlError> {
  const all = yield* auditSumOf(sql, key, "audit_log")
  const since = yield* auditSumOf(
    sql,
    key,
    `(SELECT unnest(c.audit_ids) AS id FROM ${linksAfter(seal)} c WHERE c.audit_ids <> '{}') named`
  )
  return { lines: all.lines - since.lines, sum: all.sum - since.sum }
})

const keptOf = (sql: SqlClient.SqlClient) =>
  oneOf(keptRows(sql`SELECT floor(extract(epoch FROM verified_at) * 1000)::float8 AS "verifiedAt",
      floor(extract(epoch FROM wholly_at) * 1000)::float8 AS "whollyAt", seal, encode(seal_hash, 'hex') AS "sealHash",
      encode(players_hash, 'hex') AS "playersHash", audit_lines AS "auditLines", audit_sum::text AS "auditSum", tag FROM ledger_verification`))

/** When what has changed since was made: PostgreSQL plans for the time itself, as it cannot for one that it has to find first. */
const oldestTouched = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, since: number) {
  const at = toDate(since)
  const epoch = sql.literal("floor(extract(epoch FROM min(created_at)) * 1000)::float8")
  const [payments] = yield* oldestRows(
    sql`WITH named AS MATERIALIZED (SELECT payment_request_id AS id FROM ledger_entries
      WHERE created_at >= ${at} AND payment_request_id IS NOT NULL)
    SELECT ${epoch} AS at FROM payment_requests WHERE updated_at >= ${at} OR created_at >= ${at} OR id IN (SELECT id FROM named)`
  )
  const [bonuses] = yield* oldestRows(sql`WITH named AS MATERIALIZED (SELECT player_bonus_id AS id FROM ledger_entries
      WHERE created_at >= ${at} AND player_bonus_id IS NOT NULL)
    SELECT ${epoch} AS at FROM player_bonuses WHERE finished_at >= ${at} OR created_at >= ${at} OR id IN (SELECT id FROM named)`)
  const [conversions] = yield* oldestRows(sql`SELECT ${epoch} AS at FROM player_bonuses
    WHERE result = 'converted' AND coalesce(finished_at, created_at) >= ${at}`)
  const oldest = (found: { readonly at: number | null } | undefined) => Math.min(since, found?.at ?? since)
  return { paymentsSince: oldest(payments), bonusesSince: oldest(bonuses), conversionsSince: oldest(conversions) }
})

/** What was kept: `nothing`, or `changed` where it is not as a verification left it. */
export type Verified =
  | { readonly _tag: "Until"; readonly until: VerifiedUntil; readonly sealedAt: number }
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Changed" }

/** From where a verification goes on, in its snapshot. */
export const readVerified = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  key: Crypto.KeyObject
): Effect.fn.Return<Verified, SqlError.SqlError> {
  const kept = yield* keptOf(sql)
  if (kept === undefined) return { _tag: "Nothing" }
  if (!equalSecrets(hex(kept.tag), hex(tagOfKept(key, kept)))) return { _tag: "Changed" }
  if (kept.seal === nothing.seal) return { _tag: "Nothing" }
  const [seal] = yield* sealRows(
    sql`SELECT floor(extract(epoch FROM sealed_at) * 1000)::float8 AS "sealedAt" FROM chain_seals
    WHERE seal = ${kept.seal} AND hash = decode(${kept.sealHash}, 'hex') AND isfinite(sealed_at)`
  )
  if (seal === undefined || (yield* playersHash(sql)) !== kept.playersHash) return { _tag: "Changed" }
  const since = seal.sealedAt - commitMs
  const [before] = yield* numberRows(sql`SELECT coalesce(max(seal), 0) AS seal FROM chain_seals
    WHERE seal < ${kept.seal} AND sealed_at < ${toDate(since - clockMs)}`)
  const until = {
    seal: kept.seal,
    sealHash: kept.sealHash,
    since,
    linksAfterSeal: before?.seal ?? 0,
    audit: { lines: kept.auditLines, sum: BigInt(kept.auditSum) }
  }
  return { _tag: "Until", until: { ...until, ...yield* oldestTouched(sql, since) }, sealedAt: seal.sealedAt }
})

export interface Sound {
  /** Of the snapshot, epoch milliseconds. */
  readonly at: number
  readonly isWhole: boolean
  readonly seal: number
  readonly sealHash: string
}

const write = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, key: Crypto.KeyObject, kept: Kept) {
  yield* sql`INSERT INTO ledger_verification (verified_at, wholly_at, seal, seal_hash, players_hash, audit_lines, audit_sum, tag)
    VALUES (${toDate(kept.verifiedAt)}, ${toDate(kept.whollyAt)}, ${kept.seal}, decode(${kept.sealHash}, 'hex'),
      decode(${kept.playersHash}, 'hex'), ${kept.auditLines}, ${kept.auditSum}::text::numeric, ${tagOfKept(key, kept)})
    ON CONFLICT (id) DO UPDATE SET verified_at = excluded.verified_at, wholly_at = excluded.wholly_at, seal = excluded.seal,
      seal_hash = excluded.seal_hash, players_hash = excluded.players_hash, audit_lines = excluded.audit_lines,
      audit_sum = excluded.audit_sum, tag = excluded.tag`
})

/**
 * Keeps what a verification found sound, in a transaction that reads its snapshot; of two at once the later fails. Gives when everything was verified
 * last, epoch milliseconds.
 */
export const keepVerified = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  key: Crypto.KeyObject,
  { at, isWhole, seal, sealHash }: Sound
): Effect.fn.Return<number, SqlError.SqlError> {
  const before = yield* keptOf(sql)
  const whollyAt = isWhole ? at : before?.whollyAt ?? at
  for (let after = 0;;) {
    const [page] = yield* pageRows(
      sql`WITH page AS MATERIALIZED (SELECT player_id, operator_id, entry_seq, real_balance, bonus_balance
        FROM accounts WHERE player_id > ${after} ORDER BY player_id LIMIT ${playersPerPage}),
      written AS (INSERT INTO ledger_verified_players (player_id, operator_id, entries, real_balance, bonus_balance)
        SELECT p.player_id, p.operator_id, p.entry_seq, p.real_balance, p.bonus_balance
        FROM page p LEFT JOIN ledger_verified_players v ON v.player_id = p.player_id
        WHERE (v.entries, v.real_balance, v.bonus_balance) IS DISTINCT FROM (p.entry_seq, p.real_balance, p.bonus_balance)
        ON CONFLICT (player_id) DO UPDATE
          SET entries = excluded.entries, real_balance = excluded.real_balance, bonus_balance = excluded.bonus_balance)
      SELECT max(player_id) AS last, count(*)::float8 AS players FROM page`
    )
    if (page === undefined || page.last === null || page.players < playersPerPage) break
    after = page.last
    yield* Effect.sleep(pauseMs)
  }
  const { lines, sum } = yield* auditUpTo(sql, key, seal)
  const audit = { auditLines: lines, auditSum: String(sum) }
  yield* write(sql, key, { verifiedAt: at, whollyAt, seal, sealHash, playersHash: yield* playersHash(sql), ...audit })
  return whollyAt
})

/** Forgets what was verified, since something was found: until it is mended, everything is verified. */
export const forgetVerified = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, key: Crypto.KeyObject, at: number) {
  const before = yield* keptOf(sql)
  if (before === undefined) return
  yield* write(sql, key, { ...before, verifiedAt: at, ...nothing })
})
