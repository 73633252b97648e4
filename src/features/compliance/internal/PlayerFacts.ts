/**
 * Identity facts of players (e-mail, phone, address, IP and the like), and the players who share them. Stored as keyed digests and kept after a
 * change: a phone number that passed from one player to another still counts as shared.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { byteStrings, numbers, texts } from "../../../platform/ArrayParameters.ts"
import ipaddr from "ipaddr.js"
import {
  type FactKind,
  factKinds,
  maxSharedAddress,
  type SharedFacts
} from "../../../domain/compliance/IdentityAlerts.ts"
import { comparableText, identityFacts, similarNamesOf } from "../../../domain/player/Identity.ts"
import { PersonalData } from "../../../platform/PersonalData.ts"
import { rowsOf } from "../../../store/Rows.ts"
import { bareFact } from "../../../store/SamePersons.ts"
import type { Identity } from "./Evidence.ts"

/** Services of which everybody knows that dots say nothing. */
const dotless: ReadonlySet<string> = new Set(["gmail.com", "googlemail.com"])

/** E-mail address without tags and dots, by which one mailbox has many addresses. */
const comparableEmail = (email: string): string => {
  const [local = "", domain = ""] = email.toLowerCase().split("@")
  const [name = ""] = local.split("+")
  return dotless.has(domain) ? `${name.replaceAll(".", "")}@gmail.com` : `${name}@${domain}`
}

/** An address on the public internet: of IPv6 the network that one household has. Undefined for any other. */
const comparableIp = (ip: string | null): string | undefined => {
  if (ip === null || !ipaddr.isValid(ip)) return undefined
  const address = ipaddr.process(ip)
  if (address.range() !== "unicast") return undefined
  return address instanceof ipaddr.IPv6
    ? address.toByteArray().slice(0, 8).join(".")
    : address.toString()
}

/** Identity facts of a player in comparable form. `ips`: addresses of the player's logins. */
export const factsOf = (
  identity: Identity,
  ips: ReadonlyArray<string | null>
): ReadonlyArray<readonly [kind: FactKind, value: string]> => {
  const { address, birthDate, city, country, email, phone, zipCode } = identity
  const place = address === null ? "" : comparableText(address)
  const town = comparableText(zipCode ?? city ?? "")
  const addresses = new Set([identity.registrationIp, ...ips].map(comparableIp))
  const facts: ReadonlyArray<readonly [FactKind, string | null | undefined]> = [
    ...identityFacts(identity),
    ...similarNamesOf(identity)
      .map((name): readonly [FactKind, string] => ["similar_name_and_birth_date", `${birthDate} ${name}`]),
    ["email", comparableEmail(email)],
    ["phone", phone],
    // a street without a town is in every town
    ["address", place === "" || town === "" ? undefined : `${country} ${town} ${place}`],
    ...[...addresses].map((ip): readonly [FactKind, string | undefined] => ["ip", ip])
  ]
  return facts.flatMap(([kind, value]) => value === null || value === undefined ? [] : [[kind, value] as const])
}

const sharedRows = rowsOf(Schema.Struct({
  playerId: Schema.Number,
  otherId: Schema.Number,
  kind: Schema.Literals(factKinds)
}))

interface KnownPlayer {
  readonly operatorId: number
  readonly playerId: number
  readonly facts: ReadonlyArray<readonly [kind: FactKind, value: string]>
}

export const makePlayerFacts = Effect.map(Effect.all([SqlClient.SqlClient, PersonalData]), ([sql, personal]) => {
  /**
   * Stores the facts, and returns for each player the earlier holders of the same facts with all facts they share. In the given order: of two at
   * once, the later one is reported.
   */
  const keep = Effect.fnUntraced(function*(known: ReadonlyArray<KnownPlayer>) {
    const found = new Map<number, ReadonlyArray<SharedFacts>>()
    const rows = known.flatMap(({ facts, operatorId, playerId }) =>
      facts.map(([kind, value]) => ({ operatorId, playerId, kind, digest: personal.fact(bareFact(kind, value)) }))
    )
    if (rows.length === 0) return found
    const source = sql`unnest(${numbers(rows.map(({ operatorId }) => operatorId))}::float8[],
      ${texts(rows.map(({ kind }) => kind))}::text[],
      ${byteStrings(rows.map((row) => row.digest))}::bytea[],
      ${numbers(rows.map(({ playerId }) => playerId))}::float8[],
      ${numbers(rows.map((_, index) => index))}::float8[])
      AS u(operator_id, kind, digest, player_id, place)`
    yield* sql`INSERT INTO player_facts (operator_id, kind, digest, player_id)
      SELECT u.operator_id::bigint, u.kind, u.digest, u.player_id::bigint FROM ${source} ORDER BY u.place
      ON CONFLICT DO NOTHING`
    const shared = yield* sharedRows(
      sql`SELECT DISTINCT u.player_id AS "playerId", o.player_id AS "otherId", u.kind FROM ${source}
        JOIN player_facts mine ON mine.operator_id = u.operator_id::bigint AND mine.kind = u.kind AND mine.digest = u.digest
          AND mine.player_id = u.player_id::bigint
        CROSS JOIN LATERAL (SELECT f.player_id FROM player_facts f
          WHERE f.operator_id = mine.operator_id AND f.kind = mine.kind AND f.digest = mine.digest
            AND f.player_id <> mine.player_id AND f.number < mine.number
          -- the same ones each time: they name the occurrence
          ORDER BY f.player_id LIMIT ${maxSharedAddress}) o`
    )
    const byPair = new Map<number, Map<number, Array<FactKind>>>()
    for (const { kind, otherId, playerId } of shared) {
      const others = byPair.get(playerId) ?? new Map<number, Array<FactKind>>()
      byPair.set(playerId, others.set(otherId, [...others.get(otherId) ?? [], kind]))
    }
    for (const [playerId, others] of byPair) {
      found.set(playerId, [...others].map(([otherId, kinds]) => ({ playerId: otherId, kinds })))
    }
    return found
  })

  return { keep }
})
