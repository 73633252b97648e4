/**
 * Reads the stored chain in the order of its seals (hashes of the last links of all chains, one a minute), with each link's rows from the ledger and
 * the audit log, a hundred links at a time: the memory it takes does not depend on the size of the ledger.
 */
import { Effect, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Crypto from "node:crypto"
import { type ChainStart, type Finding, type Part, sealMessages } from "./ChainCheck.ts"
import { tagOf } from "./Chain.ts"
import {
  auditLineSql,
  digestAtSql,
  digestSql,
  entryLineSql,
  type Head,
  instantSql,
  noHash,
  sealLineSql,
  valuesLineSql
} from "./Lines.ts"

/** Decoding and splitting a page takes the thread that decides bets a few milliseconds, with the links of a busy service. */
const linksPerPage = 100
const rowsPerPage = 1000
const sealsPerPage = 200
const digestLength = 64

/** Links of a chain after one and up to another. */
interface Range {
  readonly chainId: string
  readonly from: string
  readonly to: string
}

const Ends = Schema.Array(Schema.Struct({ chainId: Schema.String, link: Schema.String }))
const decodeEnds = Schema.decodeUnknownEffect(Ends)
const decodeSeals = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ seal: Schema.String, at: Schema.String, hash: Schema.String }))
)
const decodeHeads = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({ seal: Schema.String, chainId: Schema.String, link: Schema.String, hash: Schema.String })
  )
)
const LinkRow = Schema.Struct({
  place: Schema.Number,
  chainId: Schema.String,
  link: Schema.String,
  hash: Schema.String,
  tag: Schema.Uint8Array,
  digests: Schema.String,
  players: Schema.Number,
  entries: Schema.Number,
  auditLines: Schema.Number
})
type LinkRow = typeof LinkRow.Type
const decodeLinks = Schema.decodeUnknownEffect(Schema.Array(LinkRow))
const decodeNames = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({ place: Schema.Number, playerIds: Schema.String, seqs: Schema.String, auditIds: Schema.String })
  )
)
const decodeRows = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({
    place: Schema.Number,
    line: Schema.NullOr(Schema.String),
    values: Schema.optionalKey(Schema.NullOr(Schema.String)),
    isOurs: Schema.Boolean
  }))
)

/** Parses numbers of `array_to_string`. */
const numbersOf = (text: string): ReadonlyArray<string> => text === "" ? [] : text.split(",")

const decodeWrong = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ chainId: Schema.String, link: Schema.String }))
)

/** True when the digest of a stored line differs from the one at this position of its link. */
const differs = (line: string, place: string): string => `${digestSql(line)} IS DISTINCT FROM ${digestAtSql(place)}`

/** The digests of a link's rows, hexadecimal. */
const digestsOf = ({ digests }: LinkRow): ReadonlyArray<string> => digests.match(/.{1,64}/g) ?? []

const bigints = (values: ReadonlyArray<string>): string => `{${values.join(",")}}`

export interface WalkOptions {
  readonly sql: SqlClient.SqlClient
  /** Only rows of this operator are read; undefined reads all. */
  readonly operatorId: number | undefined
  readonly key: Crypto.KeyObject
  /** Tags of earlier chains cannot be checked. */
  readonly firstChainId: number
  /** Begins after this seal; undefined begins at the first. */
  readonly start?: ChainStart | undefined
  /** Which rows are read with their links: all, those of links with a modified one, as PostgreSQL compares them with their digests, or none. */
  readonly rows?: "all" | "wrong" | "none"
}

interface NamedRow {
  readonly kind: "entry" | "audit"
  readonly name: string
  readonly playerId: string | null
  readonly digest: string
  readonly key: readonly [string, string]
}

/** Passes all parts of the chain on in order. Run it in one snapshot. */
export const walkChain = Effect.fnUntraced(function*<E>(
  { firstChainId, key, operatorId, rows: rowsToRead = "all", sql, start }: WalkOptions,
  take: (parts: ReadonlyArray<Part>) => Effect.Effect<void, E>
): Effect.fn.Return<void, E | SqlError.SqlError> {
  const ownEntries = sql.literal(
    operatorId === undefined ? "true" : `coalesce(p.operator_id, e.operator_id) = ${Math.trunc(operatorId)}`
  )
  const ownPlayer = sql.literal(
    operatorId === undefined
      ? ""
      : "LEFT JOIN LATERAL (SELECT * FROM players t WHERE t.id = named.player_id OFFSET 0) p ON true"
  )
  const ownAudit = sql.literal(
    operatorId === undefined ? "true" : `coalesce(a.operator_id = ${Math.trunc(operatorId)}, a.id IS NULL)`
  )

  const entriesOf = (rows: ReadonlyArray<NamedRow>) =>
    sql`SELECT named.place::float8 AS place, CASE WHEN e.player_id IS NOT NULL THEN ${
      sql.literal(entryLineSql("e"))
    } END AS line, ${ownEntries} AS "isOurs"
      FROM unnest(${bigints(rows.map((row) => row.key[0]))}::text::bigint[], ${
      bigints(rows.map((row) => row.key[1]))
    }::text::bigint[]) WITH ORDINALITY AS named (player_id, seq, place)
      LEFT JOIN ledger_entries e ON e.player_id = named.player_id AND e.seq = named.seq
      LEFT JOIN players p ON p.id = named.player_id`

  const auditOf = (rows: ReadonlyArray<NamedRow>) =>
    sql`SELECT named.place::float8 AS place, CASE WHEN a.id IS NOT NULL THEN ${
      sql.literal(auditLineSql("a"))
    } END AS line,
      ${sql.literal(valuesLineSql("a"))} AS values, ${ownAudit} AS "isOurs"
      FROM unnest(${bigints(rows.map((row) => row.key[0]))}::text::bigint[]) WITH ORDINALITY AS named (id, place)
      LEFT JOIN audit_log a ON a.id = named.id`

  /** The stored rows by name, those of other operators without their content; one without its line where there is none. */
  const read = Effect.fnUntraced(function*(names: ReadonlyArray<NamedRow>) {
    const parts = new Map<NamedRow, ReadonlyArray<Part>>()
    for (let from = 0; from < names.length; from += rowsPerPage) {
      const page = names.slice(from, from + rowsPerPage)
      for (const kind of ["entry", "audit"] as const) {
        const asked = page.filter((row) => row.kind === kind)
        if (asked.length === 0) continue
        const found = yield* Effect.orDie(decodeRows(yield* kind === "entry" ? entriesOf(asked) : auditOf(asked)))
        // several where a row is stored more than once
        const byPlace = Map.groupBy(found, ({ place }) => place)
        for (const [index, row] of asked.entries()) {
          const { digest, name, playerId } = row
          const stored = byPlace.get(index + 1) ?? []
          parts.set(
            row,
            stored.map(({ isOurs, line, values }): Part =>
              isOurs
                ? { _tag: "Row", kind, name, playerId, digest, line, ...(typeof values === "string" ? { values } : {}) }
                : { _tag: "Other" }
            )
          )
        }
      }
    }
    return parts
  })

  const keysOf = (links: ReadonlyArray<LinkRow>) =>
    sql`unnest(${bigints(links.map(({ chainId }) => chainId))}::text::bigint[], ${
      bigints(links.map(({ link }) => link))
    }::text::bigint[])`

  /** Links with a missing or modified row; all links when every row is requested. */
  const linksToRead = Effect.fnUntraced(function*(links: ReadonlyArray<LinkRow>) {
    if (rowsToRead !== "wrong") return rowsToRead === "all" ? links : []
    // OFFSET is an optimisation fence: each row is found by its key, whatever the ratio of links to the ledger, and the digests of a link are
    // detoasted once.
    const wrong = yield* Effect.orDie(decodeWrong(
      yield* sql`SELECT l.chain_id::text AS "chainId", l.link::text AS link
        FROM ${keysOf(links)} AS asked (chain_id, link)
        JOIN chain_links l ON l.chain_id = asked.chain_id AND l.link = asked.link
        CROSS JOIN LATERAL (SELECT l.digests || ''::bytea AS digests,
          least(cardinality(l.player_ids), cardinality(l.seqs)) AS entries OFFSET 0) flat
        WHERE EXISTS (SELECT FROM unnest(l.player_ids, l.seqs) WITH ORDINALITY AS named (player_id, seq, place)
          LEFT JOIN LATERAL (SELECT * FROM ledger_entries t WHERE t.player_id = named.player_id AND t.seq = named.seq OFFSET 0) e ON true
          ${ownPlayer}
          WHERE named.place <= flat.entries
            AND (e.player_id IS NULL OR ${sql.literal(differs(entryLineSql("e"), "named.place"))})
            AND (${ownEntries}) IS NOT FALSE)
        OR EXISTS (SELECT FROM unnest(l.audit_ids) WITH ORDINALITY AS named (id, place)
          LEFT JOIN LATERAL (SELECT * FROM audit_log t WHERE t.id = named.id OFFSET 0) a ON true
          WHERE (a.id IS NULL OR ${
        sql.literal(
          differs(auditLineSql("a"), "flat.entries + named.place")
        )
      }) AND (${ownAudit}) IS NOT FALSE)`
    ))
    const keys = new Set(wrong.map(({ chainId, link }) => `${chainId} ${link}`))
    return links.filter(({ chainId, link }) => keys.has(`${chainId} ${link}`))
  })

  /** The rows that links name, by link. */
  const namesOf = Effect.fnUntraced(function*(links: ReadonlyArray<LinkRow>) {
    const names = new Map<LinkRow, ReadonlyArray<NamedRow>>()
    if (links.length === 0) return names
    const found = yield* Effect.orDie(decodeNames(
      yield* sql`SELECT asked.place::float8 AS place, array_to_string(l.player_ids, ',', '0') AS "playerIds", array_to_string(l.seqs, ',', '0') AS seqs,
          array_to_string(l.audit_ids, ',', '0') AS "auditIds"
        FROM ${keysOf(links)} WITH ORDINALITY AS asked (chain_id, link, place)
        JOIN chain_links l ON l.chain_id = asked.chain_id AND l.link = asked.link`
    ))
    for (const { auditIds, place, playerIds, seqs } of found) {
      const link = links[place - 1]
      if (link === undefined) continue
      const digests = digestsOf(link)
      const [players, entries] = [numbersOf(playerIds), numbersOf(seqs)]
      const count = Math.min(players.length, entries.length)
      names.set(link, [
        ...players.slice(0, count).map((playerId, index): NamedRow => ({
          kind: "entry",
          name: `entry ${entries[index]} of player ${playerId}`,
          playerId,
          digest: digests[index] ?? "",
          key: [playerId, entries[index] ?? ""]
        })),
        ...numbersOf(auditIds).map((id, index): NamedRow => ({
          kind: "audit",
          name: `audit line ${id}`,
          playerId: null,
          digest: digests[count + index] ?? "",
          key: [id, ""]
        }))
      ])
    }
    return names
  })

  const partsOf = Effect.fnUntraced(function*(links: ReadonlyArray<LinkRow>) {
    const names = yield* namesOf(yield* linksToRead(links))
    const rows = yield* read([...names.values()].flat())
    return links.map((link): { readonly place: number; readonly parts: ReadonlyArray<Part> } => {
      const { auditLines, chainId, entries, hash, place, players, tag } = link
      const digests = digestsOf(link)
      return {
        place,
        parts: [
          {
            _tag: "Link",
            chainId,
            link: link.link,
            hash,
            digests,
            isTagged: isOfLostKey(chainId) || isTag(key, hash, tag),
            isWhole: players === entries && entries + auditLines === digests.length
          },
          ...names.get(link)?.flatMap((name) => rows.get(name) ?? []) ?? []
        ]
      }
    })
  })

  /** Chains are numbered from 1. */
  const isOfLostKey = (chainId: string): boolean => Number(chainId) > 0 && Number(chainId) < firstChainId

  const linkColumns = sql.literal(
    `l.chain_id::text AS "chainId", l.link::text AS link, encode(l.hash, 'hex') AS hash, l.tag,
    encode(l.digests, 'hex') AS digests, cardinality(l.player_ids)::float8 AS players, cardinality(l.seqs)::float8 AS entries,
    cardinality(l.audit_ids)::float8 AS "auditLines"`
  )

  /** The links of several ranges, by range. */
  const linksOf = Effect.fnUntraced(function*(ranges: ReadonlyArray<Range>) {
    const places: ReadonlyArray<Array<Part>> = ranges.map(() => [])
    const links = yield* Effect.orDie(decodeLinks(
      yield* sql`SELECT r.place, ${linkColumns}
        FROM unnest(${bigints(ranges.map(({ chainId }) => chainId))}::text::bigint[],
          ${bigints(ranges.map(({ from }) => from))}::text::bigint[], ${
        bigints(ranges.map(({ to }) => to))
      }::text::bigint[]) WITH ORDINALITY AS r (chain_id, after, upto, place)
        JOIN chain_links l ON l.chain_id = r.chain_id AND l.link > r.after AND l.link <= r.upto
        ORDER BY r.place, l.link`
    ))
    for (const { parts, place } of yield* partsOf(links)) {
      for (const part of parts) places[place - 1]?.push(part)
    }
    return places
  })

  const walkLongRange = Effect.fnUntraced(function*({ chainId, from, to }: Range) {
    let after = from
    for (;;) {
      const links = yield* Effect.orDie(decodeLinks(
        yield* sql`SELECT 1::float8 AS place, ${linkColumns} FROM chain_links l WHERE l.chain_id = ${chainId}::text::bigint
          AND l.link > ${after}::text::bigint AND l.link <= ${to}::text::bigint ORDER BY l.link LIMIT ${linksPerPage}`
      ))
      yield* take((yield* partsOf(links)).flatMap(({ parts }) => parts))
      const last = links.at(-1)
      if (last === undefined || links.length < linksPerPage) return
      after = last.link
    }
  })

  /** Reads ranges with the seals that follow them; short ones together. */
  const walk = Effect.fnUntraced(function*(steps: ReadonlyArray<{ readonly range?: Range; readonly seal?: Part }>) {
    let batch: Array<typeof steps[number]> = []
    let size = 0n
    const flush = Effect.suspend(() => {
      const waiting = batch
      batch = []
      size = 0n
      return Effect.gen(function*() {
        const ranges = waiting.flatMap(({ range }) => range ?? [])
        const found = ranges.length === 0 ? [] : yield* linksOf(ranges)
        let place = 0
        yield* take(waiting.flatMap(({ range, seal }) => [
          ...range === undefined ? [] : found[place++] ?? [],
          ...seal === undefined ? [] : [seal]
        ]))
      })
    })
    for (const step of steps) {
      const length = step.range === undefined ? 0n : BigInt(step.range.to) - BigInt(step.range.from)
      if (size + length > linksPerPage) yield* flush
      if (length > linksPerPage && step.range !== undefined) {
        yield* walkLongRange(step.range)
        batch.push(step.seal === undefined ? {} : { seal: step.seal })
      } else {
        batch.push(step)
        size += length
      }
    }
    yield* flush
  })

  const ends = yield* Effect.orDie(decodeEnds(
    yield* sql`WITH RECURSIVE heads AS (
        (SELECT chain_id, link FROM chain_links ORDER BY chain_id DESC, link DESC LIMIT 1)
        UNION ALL
        SELECT n.chain_id, n.link FROM heads h CROSS JOIN LATERAL (SELECT chain_id, link FROM chain_links c
          WHERE c.chain_id < h.chain_id ORDER BY c.chain_id DESC, c.link DESC LIMIT 1) n
      )
      SELECT chain_id::text AS "chainId", link::text AS link FROM heads ORDER BY chain_id`
  ))
  const end = new Map(ends.map(({ chainId, link }) => [chainId, link]))
  const reached = new Map(start?.heads.map(({ chainId, link }) => [chainId, link]))

  /** The unread range of a chain up to a head, or to its end. */
  const rangeTo = (chainId: string, link: string): Range | undefined => {
    const [from, last] = [reached.get(chainId) ?? "0", end.get(chainId) ?? "0"]
    const to = BigInt(link) < BigInt(last) ? link : last
    if (BigInt(to) <= BigInt(from)) return undefined
    reached.set(chainId, to)
    return { chainId, from, to }
  }

  let after = start?.seal ?? "-9223372036854775808"
  for (;;) {
    const seals = yield* Effect.orDie(decodeSeals(
      yield* sql`SELECT seal::text AS seal, ${sql.literal(instantSql("sealed_at"))} AS at,
          encode(hash, 'hex') AS hash FROM chain_seals s
        WHERE s.seal > ${after}::text::bigint ORDER BY s.seal LIMIT ${sealsPerPage}`
    ))
    const last = seals.at(-1)
    if (last === undefined) break
    const heads = yield* Effect.orDie(decodeHeads(
      yield* sql`SELECT seal::text AS seal, chain_id::text AS "chainId", link::text AS link, encode(hash, 'hex') AS hash
        FROM chain_seal_heads h WHERE h.seal > ${after}::text::bigint AND h.seal <= ${last.seal}::text::bigint
        ORDER BY h.seal, h.chain_id`
    ))
    const headsOf = Map.groupBy(heads, ({ seal }) => seal)
    yield* walk(seals.flatMap((seal) => {
      const own: ReadonlyArray<Head> = headsOf.get(seal.seal) ?? []
      return [
        ...own.flatMap(({ chainId, link }) => {
          const range = rangeTo(chainId, link)
          return range === undefined ? [] : [{ range }]
        }),
        { seal: { _tag: "Seal", ...seal, heads: own } as const }
      ]
    }))
    after = last.seal
  }
  yield* walk(ends.flatMap(({ chainId, link }) => {
    const range = rangeTo(chainId, link)
    return range === undefined ? [] : [{ range }]
  }))
})

const isTag = (key: Crypto.KeyObject, hash: string, tag: Uint8Array): boolean =>
  tag.length * 2 === digestLength && Crypto.timingSafeEqual(tagOf(key, hash), tag)

const Broken = Schema.Array(Schema.Struct({ seal: Schema.String, previous: Schema.String, follows: Schema.Boolean }))
const decodeBroken = Schema.decodeUnknownEffect(Broken)
const decodeHashes = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ hash: Schema.String })))
const decodeStartHeads = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ chainId: Schema.String, link: Schema.String, hash: Schema.String }))
)

/**
 * The chain at a seal, without the links before it: PostgreSQL hashes all seals up to it, whose hashes prove the heads. Undefined where there is no
 * such seal.
 */
export const startAfter = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  seal: number
): Effect.fn.Return<
  { readonly start: ChainStart; readonly broken: ReadonlyArray<Finding> } | undefined,
  SqlError.SqlError
> {
  const [found] = yield* Effect.orDie(decodeHashes(
    yield* sql`SELECT encode(hash, 'hex') AS hash FROM chain_seals WHERE seal = ${seal}`
  ))
  if (found === undefined) return undefined
  const digest = sql.literal(digestSql(sealLineSql("s", "s.before", "coalesce(h.heads, '')")))
  const broken = yield* Effect.orDie(decodeBroken(
    yield* sql`SELECT s.seal::text AS seal, s.previous::text AS previous, s.seal = s.previous + 1 AS follows
      FROM (SELECT *, lag(seal, 1, 0::bigint) OVER sealed AS previous, encode(lag(hash, 1, decode(${noHash}, 'hex')) OVER sealed, 'hex') AS before
        FROM chain_seals WHERE seal <= ${seal} WINDOW sealed AS (ORDER BY seal)) s
      LEFT JOIN (SELECT seal, string_agg('[' || chain_id || ',' || link || ',"' || encode(hash, 'hex') || '"]', ',' ORDER BY chain_id) AS heads
        FROM chain_seal_heads WHERE seal <= ${seal} GROUP BY seal) h ON h.seal = s.seal
      WHERE s.seal <> s.previous + 1 OR s.hash <> ${digest} ORDER BY s.seal LIMIT 100`
  ))
  const heads = yield* Effect.orDie(decodeStartHeads(
    yield* sql`SELECT DISTINCT ON (chain_id) chain_id::text AS "chainId", link::text AS link, encode(hash, 'hex') AS hash
      FROM chain_seal_heads h WHERE h.seal <= ${seal} ORDER BY h.chain_id, h.link DESC`
  ))
  return {
    start: { seal: String(seal), hash: found.hash, heads },
    broken: broken.map(({ follows, previous, seal: number }) => ({
      rule: "chain_seal_broken",
      playerId: null,
      subject: `seal ${number}`,
      message: follows ? sealMessages.otherHash : sealMessages.gapAfter(previous)
    }))
  }
})
