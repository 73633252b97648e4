/**
 * Chain of hashes over ledger entries and audit lines: every commit adds a link that hashes its rows together with the link before
 * it, so that a row cannot be changed, removed or added afterwards without `ledger verify` finding it.
 *
 * The journal of a process has a chain of its own: its commits follow one another, so that the next link is known before the commit
 * is sent and no lock is needed. A chain whose last commit has an unknown outcome is left, and a new one begun: a head is never
 * guessed. Audit lines that are written outside a player's commit, and rows from before there were chains, each have one chain for
 * all processes, extended under a lock that lasts to the end of the transaction.
 *
 * Hashes alone stop nobody who can write to the tables from adding a link of their own. So each link also carries a tag: an HMAC of
 * its hash under a key that the database keeps only sealed.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Crypto from "node:crypto"
import type { Entry } from "../domain/Change.ts"
import { type AuditLine, auditLine, entryLine, hashOf, linkLine, noHash } from "./Lines.ts"

/** The key of the tags, and from which chain on it is in use: chains before it were tagged under a key that was lost. */
export class ChainKey extends Context.Service<ChainKey, {
  readonly key: Crypto.KeyObject
  readonly firstChainId: number
}>()("pitboss/chain/ChainKey") {
  /** A key for tests, in use from the first chain on. */
  static readonly layerTest = Layer.succeed(ChainKey, {
    key: Crypto.createSecretKey(new Uint8Array(32)),
    firstChainId: 1
  })

  /** For whoever looks at a database without its master key: no tag is checked. */
  static readonly layerNone = Layer.succeed(ChainKey, {
    key: Crypto.createSecretKey(new Uint8Array(32)),
    firstChainId: Number.MAX_SAFE_INTEGER
  })
}

/** A link as it is stored, with the rows that it is over: entries first, then audit lines. */
export interface Link {
  readonly chainId: number
  readonly link: number
  readonly hash: string
  readonly tag: Uint8Array
  /** Of the rows, one after the other. */
  readonly digests: Uint8Array
  readonly playerIds: ReadonlyArray<number>
  readonly seqs: ReadonlyArray<number>
  readonly auditIds: ReadonlyArray<number>
}

/** The rows of a link, by their lines. */
export interface LinkedRows {
  readonly lines: ReadonlyArray<string>
  readonly playerIds: ReadonlyArray<number>
  readonly seqs: ReadonlyArray<number>
  readonly auditIds: ReadonlyArray<number>
}

/** The rows of a commit. */
export const rowsOfCommit = (entries: ReadonlyArray<Entry>, audit: ReadonlyArray<AuditLine>): LinkedRows => {
  const lines: Array<string> = []
  const playerIds: Array<number> = []
  const seqs: Array<number> = []
  for (const entry of entries) {
    lines.push(entryLine(entry))
    playerIds.push(entry.playerId)
    seqs.push(entry.seq)
  }
  for (const line of audit) lines.push(auditLine(line))
  return { lines, playerIds, seqs, auditIds: audit.map(({ id }) => id) }
}

/** The tag of a link's hash. */
export const tagOf = (key: Crypto.KeyObject, hash: string): Uint8Array =>
  Crypto.createHmac("sha256", key).update(hash).digest()

/** How far a chain has come. */
export interface ChainPosition {
  readonly chainId: number
  readonly link: number
  readonly hash: string
}

/** The link that follows a position. */
const nextLink = (key: Crypto.KeyObject, after: ChainPosition, rows: LinkedRows): Link => {
  const digests = rows.lines.map(hashOf)
  const link = after.link + 1
  const hash = hashOf(linkLine(after.chainId, link, after.hash, digests))
  return {
    chainId: after.chainId,
    link,
    hash,
    tag: tagOf(key, hash),
    digests: Buffer.from(digests.join(""), "hex"),
    playerIds: rows.playerIds,
    seqs: rows.seqs,
    auditIds: rows.auditIds
  }
}

/** Locks of chains that several processes extend; the number only keeps them apart from other advisory locks. */
const lockSpace = 720_455_104

const LastLink = Schema.Array(Schema.Struct({ link: Schema.Number, hash: Schema.String }))
const decodeLast = Schema.decodeUnknownEffect(LastLink)
const decodeIds = Schema.decodeUnknownEffect(Schema.NonEmptyArray(Schema.Struct({ id: Schema.Number })))

/** Takes an id for a chain; the one after it is taken with it. */
export const takeChainId = (sql: SqlClient.SqlClient) =>
  sql`SELECT nextval('chain_ids')::float8 AS id`.pipe(
    Effect.flatMap((rows) => Effect.orDie(decodeIds(rows))),
    Effect.map(([{ id }]) => id)
  )

const numbers = (values: ReadonlyArray<number>): string => `{${values.join(",")}}`

export class Chain extends Context.Service<Chain, {
  /** Begins a new chain, over the connections of whoever writes it. */
  readonly begin: (client: SqlClient.SqlClient) => Effect.Effect<ChainPosition, SqlError.SqlError>
  readonly nextLink: (after: ChainPosition, rows: LinkedRows) => Link
  /** Remembers where the journal's chain of this process is, after a commit. */
  readonly reached: (position: ChainPosition) => void
  /** Where {@link reached} said it was. */
  readonly position: () => ChainPosition | undefined
  /**
   * Writes audit lines in the transaction that is open, with their link. Call it last: other writers of such lines wait from here to
   * the end of the transaction, and whoever already holds their rows would wait for one another.
   */
  readonly writeAuditLines: (lines: ReadonlyArray<AuditLine>) => Effect.Effect<void, SqlError.SqlError>
  /** Links rows that stand in no link, in the transaction that is open. */
  readonly linkOldRows: (rows: LinkedRows) => Effect.Effect<void, SqlError.SqlError>
}>()("pitboss/chain/Chain") {
  static readonly layer = Layer.effect(
    Chain,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { firstChainId, key } = yield* ChainKey
      const [auditChainId, oldRowsChainId] = [firstChainId, firstChainId + 1]
      let current: ChainPosition | undefined

      const begin: Chain["Service"]["begin"] = (client) =>
        Effect.map(takeChainId(client), (chainId) => ({ chainId, link: 0, hash: noHash }))

      /** Extends a chain of all processes. */
      const extend = Effect.fnUntraced(function*(chainId: number, rows: LinkedRows) {
        yield* sql`SELECT pg_advisory_xact_lock(${lockSpace}::integer, ${chainId}::integer)`
        const [last] = yield* Effect.orDie(decodeLast(
          yield* sql`SELECT link, encode(hash, 'hex') AS hash FROM chain_links
            WHERE chain_id = ${chainId} ORDER BY chain_links.link DESC LIMIT 1`
        ))
        const link = nextLink(key, { chainId, link: last?.link ?? 0, hash: last?.hash ?? noHash }, rows)
        yield* sql`INSERT INTO chain_links (chain_id, link, hash, tag, digests, player_ids, seqs, audit_ids)
          VALUES (${chainId}, ${link.link}, decode(${link.hash}, 'hex'), ${link.tag}, ${link.digests},
            ${numbers(link.playerIds)}::text::bigint[], ${numbers(link.seqs)}::text::bigint[],
            ${numbers(link.auditIds)}::text::bigint[])`
      })

      const writeAuditLines: Chain["Service"]["writeAuditLines"] = Effect.fnUntraced(function*(lines) {
        if (lines.length === 0) return
        for (const line of lines) {
          yield* sql`INSERT INTO audit_log (id, at, actor, action, operator_id, player_id, subject, before, after, reason)
            VALUES (${line.id}, ${new Date(
            line.at
          )}, ${line.actor}, ${line.action}, ${line.operatorId}, ${line.playerId},
              ${line.subject}, ${json(line.before)}, ${json(line.after)}, ${line.reason})`
        }
        yield* extend(auditChainId, rowsOfCommit([], lines))
      })

      return Chain.of({
        begin,
        nextLink: (after, rows) => nextLink(key, after, rows),
        reached: (position) => {
          current = position
        },
        position: () => current,
        writeAuditLines,
        linkOldRows: (rows) => extend(oldRowsChainId, rows)
      })
    })
  )
}

const json = (value: unknown): string | null => value === null || value === undefined ? null : JSON.stringify(value)
