/**
 * Canonical lines of the hash chain (`docs/ledger-export.md`): the hashed text of a ledger entry, an audit line, a link and a seal.
 *
 * Every line is a JSON array. The digest of a row is the SHA-256 of its line; the hash of a link covers the previous link's hash and the digests of
 * its rows, that of a seal the previous seal's hash and the last links (heads) of the chains. A line made from a commit's values and one made from
 * the stored row by the expressions below are equal byte for byte.
 */
import * as Crypto from "node:crypto"
import { type AuditRecord, type Entry, entryTypes, walletKinds } from "../domain/state/Change.ts"

/** Line of the audit log; one of the back office may have no operator or player. */
export interface AuditLine extends Omit<AuditRecord, "operatorId" | "playerId"> {
  readonly operatorId: number | null
  readonly playerId: number | null
}

/** An audit line with the salt of its values, which goes with them when a person is erased; hexadecimal. */
export interface SaltedLine extends AuditLine {
  readonly salt: string
}

/** The hash before the first link of a chain, and before the first seal. */
export const noHash = "0".repeat(64)

/** SHA-256 of a line's UTF-8, in hexadecimal. */
export const hashOf = (line: string): string => Crypto.hash("sha256", line, "hex")

/** A text as PostgreSQL prints it in JSON. An unpaired surrogate is stored as the replacement character. */
const textOf = (text: string | null): string => text === null ? "null" : JSON.stringify(text.toWellFormed())

/** Microseconds since 1970, the precision of a stored instant, of epoch milliseconds. */
const microsOf = (ms: number): number => Math.trunc(ms * 1000)

/** The digits of a number without an exponent, as PostgreSQL prints a `numeric`. */
const plainNumber = (value: number): string => {
  const text = String(value)
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text)
  if (match === null) return text
  const [, sign = "", first = "", rest = "", exponent = "0"] = match
  const digits = first + rest
  const point = 1 + Number(exponent)
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`
  return point >= digits.length
    ? sign + digits + "0".repeat(point - digits.length)
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** Keys in the order of `jsonb`: by the length of their UTF-8, then by its bytes. */
const byLengthAndBytes = (one: string, other: string): number => {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length - right.length || Buffer.compare(left, right)
}

const hasToJson = (value: object): value is { readonly toJSON: () => unknown } =>
  "toJSON" in value && typeof value.toJSON === "function"

/**
 * Undefined for what JSON leaves out. Not by `JSON.parse(JSON.stringify(value))`: V8 reads a key of one escaped character as a backslash
 * where it has read a like object with the key `\\` before.
 */
const printJson = (given: unknown): string | undefined => {
  const value = typeof given === "object" && given !== null && hasToJson(given) ? given.toJSON() : given
  if (typeof value === "number") return Number.isFinite(value) ? plainNumber(value) : "null"
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((one) => printJson(one) ?? "null").join(", ")}]`
  const printed = Object.entries(value).flatMap(([key, one]) => {
    const text = printJson(one)
    return text === undefined ? [] : [{ key, text }]
  })
  return `{${
    printed.sort((one, other) => byLengthAndBytes(one.key, other.key))
      .map(({ key, text }) => `${JSON.stringify(key)}: ${text}`).join(", ")
  }}`
}

/** A value as PostgreSQL prints it from a `jsonb` column to which it was written as JSON. */
export const jsonbText = (value: unknown): string => printJson(value) ?? "null"

/** The line of a ledger entry. On the path of a bet. */
export const entryLine = (entry: Entry): string =>
  `["entry",${entry.playerId},${entry.seq},${entry.id},${entry.operatorId},"${entry.wallet}","${entry.type}",${entry.amount},${entry.balanceAfter},${entry.paymentRequestId},${entry.gameId},${
    textOf(entry.gameRoundId)
  },${entry.playerBonusId},${microsOf(entry.createdAt)}]`

/** The line of an audit line's values. */
export const valuesLine = (line: SaltedLine): string =>
  `["values","${line.salt}",${jsonbText(line.before)},${jsonbText(line.after)},${textOf(line.reason)}]`

/** The line of an audit line: its values are in it as their digest alone. */
export const auditLine = (line: SaltedLine): string =>
  `["audit",${line.id},${microsOf(line.at)},${textOf(line.actor)},${
    textOf(line.action)
  },${line.operatorId},${line.playerId},${textOf(line.subject)},"${hashOf(valuesLine(line))}"]`

/** Action of the line that says that data of its player was erased. Its own values name classes of data and stay. */
export const erasureAction = "erasure"

/** In place of the values of an audit line that were erased. */
export const erasedLine = "[\"erased\"]"

/** The digest of a line, as an SQL expression. */
export const digestSql = (line: string): string => `sha256(convert_to(${line}, 'UTF8'))`

const numberSql = (column: string): string => `coalesce(${column}::text, 'null')`
const textSql = (column: string): string => `coalesce(to_json(${column})::text, 'null')`
/** {@link textSql} of a column with few known values, in less than half of the time: none of them needs an escape. */
const knownTextSql = (column: string, known: ReadonlyArray<string>): string =>
  `CASE WHEN ${column} IN (${known.map((text) => `'${text}'`).join(", ")}) THEN '"' || ${column} || '"' ELSE ${
    textSql(column)
  } END`
/**
 * Microseconds since 1970. From 1970 to 2100 floating point gives the same in less time: its two roundings are off by less than half a microsecond.
 * Infinite instants, never written by the service, are printed as text, since a number would fail the statement.
 */
export const instantSql = (column: string): string =>
  `CASE WHEN ${column} BETWEEN timestamptz '1970-01-01Z' AND timestamptz '2100-01-01Z'
      THEN round(date_part('epoch', ${column}) * 1000000)::bigint::text
    WHEN isfinite(${column}) THEN (extract(epoch FROM ${column}) * 1000000)::bigint::text
    ELSE coalesce(${column}::text, 'null') END`

/** Columns are texts, none null. `concat` makes the line at once, `||` a text for every column. */
const lineSql = (kind: string, columns: ReadonlyArray<string>): string =>
  `concat('["${kind}",', ${columns.join(", ',', ")}, ']')`

/** {@link entryLine} of a row of `ledger_entries`, as an SQL expression. */
export const entryLineSql = (alias: string): string => {
  const column = (name: string) => `${alias}.${name}`
  const number = (name: string) => numberSql(column(name))
  return lineSql("entry", [
    number("player_id"),
    number("seq"),
    number("id"),
    number("operator_id"),
    knownTextSql(column("wallet"), walletKinds),
    knownTextSql(column("type"), entryTypes),
    number("amount"),
    number("balance_after"),
    number("payment_request_id"),
    number("game_id"),
    textSql(column("game_round_id")),
    number("player_bonus_id"),
    instantSql(column("created_at"))
  ])
}

/** {@link valuesLine} of a row of `audit_log`, as an SQL expression; {@link erasedLine} where it is erased. */
export const valuesLineSql = (alias: string): string =>
  `CASE WHEN ${alias}.values_digest IS NOT NULL THEN '${erasedLine}' ELSE ${
    lineSql("values", [
      `'"' || coalesce(encode(${alias}.salt, 'hex'), '') || '"'`,
      numberSql(`${alias}.before`),
      numberSql(`${alias}.after`),
      textSql(`${alias}.reason`)
    ])
  } END`

/** {@link auditLine} of a row of `audit_log`, as an SQL expression. */
export const auditLineSql = (alias: string): string => {
  const number = (name: string) => numberSql(`${alias}.${name}`)
  const text = (name: string) => textSql(`${alias}.${name}`)
  const who = [
    number("id"),
    instantSql(`${alias}.at`),
    text("actor"),
    text("action"),
    number("operator_id"),
    number("player_id"),
    text("subject")
  ]
  const digest = `encode(coalesce(${alias}.values_digest, ${digestSql(valuesLineSql(alias))}), 'hex')`
  return lineSql("audit", [...who, `'"' || ${digest} || '"'`])
}

/** The digest at a place, from 1, of a link whose digests stand in `flat`, as an SQL expression. */
export const digestAtSql = (place: string): string =>
  `substring(flat.digests FROM (32 * (${place} - 1) + 1)::integer FOR 32)`

/** The line of a link. */
export const linkLine = (
  chainId: number | string,
  link: number | string,
  previous: string,
  digests: ReadonlyArray<string>
): string => `["link",${chainId},${link},"${previous}",[${digests.map((digest) => `"${digest}"`).join(",")}]]`

/** Head of a chain: its last link and that link's hash. */
export interface Head {
  readonly chainId: string
  readonly link: string
  readonly hash: string
}

/** The line of a seal; `at` in microseconds since 1970. */
export const sealLine = (seal: number | string, at: string, previous: string, heads: ReadonlyArray<Head>): string =>
  `["seal",${seal},${at},"${previous}",[${
    heads.map(({ chainId, hash, link }) => `[${chainId},${link},"${hash}"]`).join(",")
  }]]`

/** {@link sealLine} of a row of `chain_seals`, as an SQL expression; `previous` and `heads` are expressions of the hash before and the text of the heads. */
export const sealLineSql = (alias: string, previous: string, heads: string): string =>
  `'["seal",' || ${alias}.seal || ',' || ${
    instantSql(`${alias}.sealed_at`)
  } || ',"' || ${previous} || '",[' || ${heads} || ']]'`
