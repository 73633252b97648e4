/**
 * Hash chain over ledger entries and audit lines: every commit adds a link that hashes its rows with the previous link, so that `ledger verify` finds
 * a changed, removed or added row.
 *
 * Each process has a chain of its own for its commits of players' changes: they run one after another, so that the next link is known before the
 * commit and needs no lock. After a commit of unknown outcome it begins a new chain, since the last link is unknown too. Audit lines outside a
 * player's commit have one chain for all processes, extended under a lock until the end of the transaction.
 *
 * A writer of the tables could add a link with a correct hash. So each link carries a tag: an HMAC of its hash under a key that the database holds
 * only encrypted.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Crypto from "node:crypto"
import type { Entry } from "../domain/state/Change.ts"
import { numbers, texts, times } from "../platform/ArrayParameters.ts"
import { Entropy } from "../platform/Entropy.ts"
import { type AuditLine, auditLine, entryLine, hashOf, linkLine, noHash, type SaltedLine } from "./Lines.ts"

/** Key of the tags, and the first chain it applies to: earlier chains were tagged under a lost key. */
export class ChainKey extends Context.Service<ChainKey, {
  readonly key: Crypto.KeyObject
  readonly firstChainId: number
}>()("pitboss/chain/ChainKey") {
  /** A key for tests, in use from the first chain on. */
  static readonly layerTest = Layer.succeed(ChainKey, {
    key: Crypto.createSecretKey(new Uint8Array(32)),
    firstChainId: 1
  })

  /** For verification without the master key: no tag is checked. */
  static readonly layerNone = Layer.succeed(ChainKey, {
    key: Crypto.createSecretKey(new Uint8Array(32)),
    firstChainId: Number.MAX_SAFE_INTEGER
  })
}

/** A stored link with its rows: entries first, then audit lines. */
export interface Link {
  readonly chainId: number
  readonly link: number
  readonly hash: string
  readonly tag: Uint8Array
  /** Digests of the rows, concatenated. */
  readonly digests: Uint8Array
  readonly playerIds: ReadonlyArray<number>
  readonly seqs: ReadonlyArray<number>
  readonly auditIds: ReadonlyArray<number>
}

/** Rows of a link, as their lines. */
export interface LinkedRows {
  readonly lines: ReadonlyArray<string>
  readonly playerIds: ReadonlyArray<number>
  readonly seqs: ReadonlyArray<number>
  readonly auditIds: ReadonlyArray<number>
}

/** The rows of a commit. */
export const rowsOfCommit = (entries: ReadonlyArray<Entry>, audit: ReadonlyArray<SaltedLine>): LinkedRows => {
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

/** Head of a chain. */
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

const saltBytes = 16

/** Chains whose heads a process remembers, its oldest forgotten first. */
const maxPositions = 32

/** Advisory locks of shared chains; an arbitrary number. */
const lockSpace = 720_455_104

const LastLink = Schema.Array(Schema.Struct({ link: Schema.Number, hash: Schema.String }))
const decodeLast = Schema.decodeUnknownEffect(LastLink)
const decodeIds = Schema.decodeUnknownEffect(Schema.NonEmptyArray(Schema.Struct({ id: Schema.Number })))

/** Takes an id for a chain, and the following one with it. */
export const reserveChainId = (sql: SqlClient.SqlClient) =>
  sql`SELECT nextval('chain_ids')::float8 AS id`.pipe(
    Effect.flatMap((rows) => Effect.orDie(decodeIds(rows))),
    Effect.map(([{ id }]) => id)
  )

export class Chain extends Context.Service<Chain, {
  /** Begins a new chain on the writer's connections. */
  readonly begin: (client: SqlClient.SqlClient) => Effect.Effect<ChainPosition, SqlError.SqlError>
  readonly nextLink: (after: ChainPosition, rows: LinkedRows) => Link
  /** The line with a new salt: a digest of its values alone could be found by trying values. */
  readonly salted: <Line extends AuditLine>(line: Line) => Line & SaltedLine
  /** Remembers the head of a journal's chain after a commit. */
  readonly setPosition: (position: ChainPosition) => void
  /** The heads that {@link setPosition} remembers: of every journal of the process, and of the chains that they have left. */
  readonly positions: () => ReadonlyArray<ChainPosition>
  /** Forgets them: another end was accepted. */
  readonly forgetPositions: () => void
  /**
   * Writes audit lines with their link in the open transaction. Call it last: other writers of audit lines wait until the end of the transaction, and
   * a lock on rows taken after it could deadlock.
   */
  readonly writeAuditLines: (
    lines: ReadonlyArray<AuditLine>,
    /** Lines that a function of the owner has written in the transaction: they get their link. */
    made?: ReadonlyArray<SaltedLine>
  ) => Effect.Effect<void, SqlError.SqlError>
}>()("pitboss/chain/Chain") {
  static readonly layer = Layer.effect(
    Chain,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const entropy = yield* Entropy
      const { firstChainId, key } = yield* ChainKey
      // Kept: written. Heads of the chains that its journals write and have left. Several nodes: its own.
      const written = new Map<number, ChainPosition>()

      const salted = <Line extends AuditLine>(line: Line): Line & SaltedLine => ({
        ...line,
        salt: Buffer.from(entropy.bytes(saltBytes)).toString("hex")
      })

      const begin: Chain["Service"]["begin"] = (client) =>
        Effect.map(reserveChainId(client), (chainId) => ({ chainId, link: 0, hash: noHash }))

      /** Extends the chain of the audit lines. */
      const extend = Effect.fnUntraced(function*(rows: LinkedRows) {
        yield* sql`SELECT pg_advisory_xact_lock(${lockSpace}::integer, ${firstChainId}::integer)`
        const [last] = yield* Effect.orDie(decodeLast(
          yield* sql`SELECT link, encode(hash, 'hex') AS hash FROM chain_links
            WHERE chain_id = ${firstChainId} ORDER BY chain_links.link DESC LIMIT 1`
        ))
        const link = nextLink(key, { chainId: firstChainId, link: last?.link ?? 0, hash: last?.hash ?? noHash }, rows)
        yield* sql`INSERT INTO chain_links (chain_id, link, hash, tag, digests, player_ids, seqs, audit_ids)
          VALUES (${firstChainId}, ${link.link}, decode(${link.hash}, 'hex'), ${link.tag}, ${link.digests},
            ${numbers(link.playerIds)}::float8[], ${numbers(link.seqs)}::float8[], ${numbers(link.auditIds)}::float8[])`
      })

      const writeAuditLines: Chain["Service"]["writeAuditLines"] = Effect.fnUntraced(function*(lines, made = []) {
        if (lines.length + made.length === 0) return
        const written = lines.map((line) => salted(line))
        if (written.length > 0) {
          yield* sql`INSERT INTO audit_log (id, at, actor, action, operator_id, player_id, subject, before, after, reason, salt)
            SELECT u.id::bigint, u.at, u.actor, u.action, u.operator_id::bigint, u.player_id::bigint, u.subject,
              u.before::jsonb, u.after::jsonb, u.reason, decode(u.salt, 'hex')
            FROM unnest(${numbers(written.map(({ id }) => id))}::float8[], ${
            times(written.map(({ at }) => at))
          }::timestamptz[],
              ${texts(written.map(({ actor }) => actor))}::text[], ${
            texts(written.map(({ action }) => action))
          }::text[],
              ${numbers(written.map(({ operatorId }) => operatorId))}::float8[],
              ${numbers(written.map(({ playerId }) => playerId))}::float8[],
              ${texts(written.map(({ subject }) => subject))}::text[],
              ${texts(written.map(({ before }) => json(before)))}::text[],
              ${texts(written.map(({ after }) => json(after)))}::text[],
              ${texts(written.map(({ reason }) => reason))}::text[], ${texts(written.map(({ salt }) => salt))}::text[])
              AS u(id, at, actor, action, operator_id, player_id, subject, before, after, reason, salt)`
        }
        yield* extend(rowsOfCommit([], [...made, ...written]))
      })

      return Chain.of({
        begin,
        nextLink: (after, rows) => nextLink(key, after, rows),
        salted,
        setPosition: (position) => {
          // the last one written is the last to be forgotten
          written.delete(position.chainId)
          written.set(position.chainId, position)
          const [oldest] = written.keys()
          if (written.size > maxPositions && oldest !== undefined) written.delete(oldest)
        },
        positions: () => [...written.values()],
        forgetPositions: () => written.clear(),
        writeAuditLines
      })
    })
  )
}

const json = (value: unknown): string | null => value === null || value === undefined ? null : JSON.stringify(value)
