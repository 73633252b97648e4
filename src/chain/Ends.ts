/**
 * Last links of the hash chains, remembered outside the tables, which alone cannot prove that their end was not cut off. Each process remembers the
 * newest link of every chain and the last seal (the hash over those of all chains) that it has seen or written, in memory and, where it can, in a
 * file beside its own data (`docs/decisions/0029-chain-of-hashes.md`).
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { texts } from "../platform/ArrayParameters.ts"
import { equalSecrets } from "../platform/Secrets.ts"
import { Chain, ChainKey, tagOf } from "./Chain.ts"
import type { Head } from "./Lines.ts"

/** Heads remembered at once, those of the newest chains: a process begins another after a commit of unknown outcome. */
const maxHeads = 64

const HeadShape = Schema.Struct({ chainId: Schema.String, link: Schema.String, hash: Schema.String })
const SealShape = Schema.Struct({ seal: Schema.String, hash: Schema.String })

/** Ends as remembered and as kept in a file. */
export const LedgerEnds = Schema.Struct({
  /** Null before the first seal. */
  seal: Schema.NullOr(SealShape),
  heads: Schema.Array(HeadShape),
  /** When they were seen, epoch milliseconds: an acceptance of a restored backup that is older does not replace them. */
  at: Schema.Number
})

export type LedgerEnds = typeof LedgerEnds.Type

/** An end as a request or an acceptance of a restored backup names it. */
export interface NamedEnd {
  readonly seal: LedgerEnds["seal"]
  /** All of it, as JSON. */
  readonly end: string
  /** Under the key of the chain: one that was written past the service is none. */
  readonly tag: Uint8Array
}

/** Request of a first person; its tag covers all of it, so that nobody else's name or time is put to it. */
export interface RestoreRequest {
  readonly id: number
  readonly requestedBy: string
  /** Epoch milliseconds. */
  readonly requestedAt: number
  /** Hash of the remembered seal; null: there was none. */
  readonly oldHash: string | null
}

/** An end that is not in the tables as it is remembered. */
export interface LostEnd {
  readonly rule: "chain_link_broken" | "chain_seal_broken"
  readonly subject: string
  readonly message: string
}

const decodeHeads = Schema.decodeUnknownEffect(Schema.Array(HeadShape))
const decodeSeals = Schema.decodeUnknownEffect(Schema.Array(SealShape))
const decodeRestores = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({
  id: Schema.Number,
  oldHash: Schema.NullOr(Schema.String),
  at: Schema.Date,
  requested: Schema.String,
  end: Schema.String,
  tag: Schema.Uint8Array
})))
const EndsText = Schema.fromJsonString(LedgerEnds)
const encodeEnds = Schema.encodeSync(EndsText)
const decodeEnds = Schema.decodeUnknownEffect(EndsText)
const decodeStored = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ hash: Schema.NullOr(Schema.String) })))

const lost = (name: string, place: string, expected: string, stored: string | null): string | undefined =>
  stored === null
    ? `ends before ${place}, which this service recorded`
    : stored === expected
    ? undefined
    : `has another ${place} than the ${name} that this service recorded`

/** The heads of both, of each chain the later one; the newest chains first. */
const mergeHeads = (remembered: ReadonlyArray<Head>, seen: ReadonlyArray<Head>): ReadonlyArray<Head> => {
  const heads = new Map<string, Head>()
  for (const head of [...remembered, ...seen]) {
    const before = heads.get(head.chainId)
    if (before === undefined || BigInt(before.link) < BigInt(head.link)) heads.set(head.chainId, head)
  }
  return [...heads.values()]
    .sort((one, other) => BigInt(one.chainId) < BigInt(other.chainId) ? 1 : -1)
    .slice(0, maxHeads)
}

export class RememberedEnds extends Context.Service<RememberedEnds, {
  /** Identifies the ledger: that of another database is another. */
  readonly ledgerId: string
  /** What is remembered now, with what this process has just written. Take it before the snapshot that it is compared with. */
  readonly current: () => LedgerEnds
  /** Adds what was remembered before this process began. */
  readonly restore: (ends: LedgerEnds) => void
  /** Compares with the tables, on the connection of `sql`. */
  readonly compare: (
    sql: SqlClient.SqlClient,
    ends: LedgerEnds
  ) => Effect.Effect<ReadonlyArray<LostEnd>, SqlError.SqlError>
  /** Compares, and remembers the ends of now where nothing is lost, or two persons have accepted the loss since, and the end that they accepted is there. */
  readonly look: Effect.Effect<ReadonlyArray<LostEnd>, SqlError.SqlError>
  /** The end of now, for a person who asks for its acceptance. */
  readonly request: (request: RestoreRequest) => Effect.Effect<NamedEnd, SqlError.SqlError>
  /** Whether the tables still go on from a requested end. One without the key's tag was not requested. */
  readonly isThere: (
    request: RestoreRequest & Pick<NamedEnd, "end" | "tag">
  ) => Effect.Effect<boolean, SqlError.SqlError>
  /** The end of now, accepted in place of the one that was remembered; it holds while the tables go on from the `requested` one as well. */
  readonly approve: (
    restoreId: number,
    accepted: { readonly oldHash: string | null; readonly at: number; readonly requested: string }
  ) => Effect.Effect<NamedEnd, SqlError.SqlError>
}>()("pitboss/chain/RememberedEnds") {
  static readonly layer = Layer.effect(
    RememberedEnds,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const chain = yield* Chain
      const { firstChainId, key } = yield* ChainKey
      const ledgerId = Buffer.from(tagOf(key, "ledger ends")).toString("hex").slice(0, 16)
      // Kept: remembered. Last seal and heads as this process has seen them. Several nodes: its own: each compares the tables with what it has seen.
      let remembered: LedgerEnds = { seal: null, heads: [], at: 0 }

      const current = (): LedgerEnds => ({
        ...remembered,
        heads: mergeHeads(
          remembered.heads,
          chain.positions().map(({ chainId, hash, link }) => ({ chainId: String(chainId), link: String(link), hash }))
        )
      })

      const compare: RememberedEnds["Service"]["compare"] = Effect.fnUntraced(function*(client, { heads, seal }) {
        const stored = yield* Effect.orDie(decodeStored(
          yield* client`SELECT encode(c.hash, 'hex') AS hash
            FROM unnest(${texts(heads.map(({ chainId }) => chainId))}::text[], ${
            texts(heads.map(({ link }) => link))
          }::text[]) WITH ORDINALITY AS u(chain_id, link, place)
            LEFT JOIN chain_links c ON c.chain_id = u.chain_id::bigint AND c.link = u.link::bigint ORDER BY u.place`
        ))
        const found = heads.flatMap(({ chainId, hash, link }, index): ReadonlyArray<LostEnd> => {
          const message = lost("one", `link ${link}`, hash, stored[index]?.hash ?? null)
          return message === undefined ? [] : [{ rule: "chain_link_broken", subject: `chain ${chainId}`, message }]
        })
        if (seal === null) return found
        const [sealed] = yield* Effect.orDie(decodeStored(
          yield* client`SELECT encode(hash, 'hex') AS hash FROM chain_seals WHERE seal = ${seal.seal}::text::bigint`
        ))
        const message = lost("seal", `seal ${seal.seal}`, seal.hash, sealed?.hash ?? null)
        return message === undefined ? found : [...found, { rule: "chain_seal_broken", subject: "seals", message }]
      })

      /** The last seal, and the head of the chain that all processes share. */
      const read = Effect.gen(function*() {
        const [seal] = yield* Effect.orDie(decodeSeals(
          yield* sql`SELECT chain_seals.seal::text AS seal, encode(hash, 'hex') AS hash FROM chain_seals
            ORDER BY chain_seals.seal DESC LIMIT 1`
        ))
        const heads = yield* Effect.orDie(decodeHeads(
          yield* sql`SELECT chain_id::text AS "chainId", chain_links.link::text AS link, encode(hash, 'hex') AS hash FROM chain_links
            WHERE chain_id = ${firstChainId} ORDER BY chain_links.link DESC LIMIT 1`
        ))
        return { seal: seal ?? null, heads, at: yield* Clock.currentTimeMillis } satisfies LedgerEnds
      })

      const tagOfRequest = (
        { id, oldHash, requestedAt, requestedBy }: RestoreRequest,
        end: string
      ): Uint8Array => tagOf(key, JSON.stringify(["restore request", id, requestedBy, requestedAt, oldHash, end]))
      const tagOfAcceptance = (
        id: number,
        { at, oldHash, requested }: Parameters<RememberedEnds["Service"]["approve"]>[1],
        end: string
      ): Uint8Array => tagOf(key, JSON.stringify(["restore acceptance", id, at, oldHash, requested, end]))
      const isTag = (tag: Uint8Array, expected: Uint8Array): boolean =>
        equalSecrets(Buffer.from(tag).toString("hex"), Buffer.from(expected).toString("hex"))

      const named = (tagOfEnd: (end: string) => Uint8Array): Effect.Effect<NamedEnd, SqlError.SqlError> =>
        Effect.map(read, (ends) => {
          const end = encodeEnds(ends)
          return { seal: ends.seal, end, tag: tagOfEnd(end) }
        })
      const request: RememberedEnds["Service"]["request"] = (asked) => named((end) => tagOfRequest(asked, end))
      const approve: RememberedEnds["Service"]["approve"] = (restoreId, accepted) =>
        named((end) => tagOfAcceptance(restoreId, accepted, end))

      /** Whether the tables go on from an end whose tag was checked. */
      const goesOn = Effect.fnUntraced(function*(end: string) {
        return (yield* compare(sql, yield* Effect.orDie(decodeEnds(end)))).length === 0
      })
      const isThere: RememberedEnds["Service"]["isThere"] = Effect.fnUntraced(function*({ end, tag, ...asked }) {
        return isTag(tag, tagOfRequest(asked, end)) && (yield* goesOn(end))
      })

      /** Whether two persons have accepted another end since this one was seen, and neither what the first saw nor what both accept was cut off in its turn. */
      const isAccepted = Effect.fnUntraced(function*({ at }: LedgerEnds) {
        const restores = yield* Effect.orDie(decodeRestores(
          yield* sql`SELECT id::float8 AS id, old_hash AS "oldHash", approved_at AS at, requested_end AS requested, accepted_end AS end, tag
            FROM ledger_restores WHERE approved_at > ${new Date(
            at
          )} AND requested_end IS NOT NULL AND accepted_end IS NOT NULL
            ORDER BY approved_at DESC LIMIT 10`
        ))
        for (const { at: approvedAt, end, id, oldHash, requested, tag } of restores) {
          const expected = tagOfAcceptance(id, { at: approvedAt.getTime(), oldHash, requested }, end)
          if (isTag(tag, expected) && (yield* goesOn(requested)) && (yield* goesOn(end))) return true
        }
        return false
      })

      const look = Effect.gen(function*() {
        const before = current()
        const found = yield* compare(sql, before)
        if (found.length > 0 && !(yield* isAccepted(before))) return found
        if (found.length > 0) {
          chain.forgetPositions()
          remembered = yield* read
          return []
        }
        const now = yield* read
        remembered = { seal: now.seal ?? before.seal, heads: mergeHeads(before.heads, now.heads), at: now.at }
        return found
      })

      return RememberedEnds.of({
        ledgerId,
        current,
        restore: (ends) => {
          const isLater = remembered.seal === null ||
            (ends.seal !== null && BigInt(ends.seal.seal) > BigInt(remembered.seal.seal))
          remembered = {
            seal: isLater ? ends.seal : remembered.seal,
            heads: mergeHeads(ends.heads, remembered.heads),
            at: Math.max(ends.at, remembered.at)
          }
        },
        compare,
        look,
        request,
        isThere,
        approve
      })
    })
  )
}
