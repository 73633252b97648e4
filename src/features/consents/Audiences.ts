/**
 * Marketing audiences: which of the given players may be contacted now, by consent, exclusion, restrictions and the marketing check of a national
 * exclusion register.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Audience } from "../../contract/consents/Api.ts"
import type { audienceReasons } from "../../contract/consents/ConsentResource.ts"
import { movedOf } from "../../domain/jurisdiction/Moves.ts"
import { after } from "../../domain/jurisdiction/Duration.ts"
import type { Rules } from "../../domain/jurisdiction/Rules.ts"
import { exclusionTypes } from "../../domain/jurisdiction/ExclusionPeriods.ts"
import { saidOf } from "../../domain/player/Consents.ts"
import { type RegisterKind, registerKinds, RegisterStanding, registerVerdicts } from "../../domain/register/Register.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { exclusionEnd, exclusionOf, playerStatuses } from "../../domain/state/Player.ts"
import { Instant } from "../../domain/Instant.ts"
import { numbers } from "../../platform/ArrayParameters.ts"
import { makeConcurrencyLimit } from "../../platform/ConcurrencyLimit.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import type { Person } from "../../registers/Register.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { columnsOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { personDigest, RegisterPeople } from "../registers/RegisterPeople.ts"
import { type Asked, RegisterQuestions } from "../registers/RegisterQuestions.ts"
import { Registers } from "../registers/Registers.ts"
import { ConsentRow, makeConsentRules, statementsOf } from "./ConsentRecords.ts"

type Reason = (typeof audienceReasons)[number]

/** How long registers are asked for one audience, milliseconds; whoever was not asked by then is `register_unavailable`. */
export const AudiencePatience = Context.Reference<number>("pitboss/consents/AudiencePatience", {
  defaultValue: () => 25_000
})

/** Questions of one audience that are under way at a register which takes no batches: sign-ins need the others. */
const oneByOne = 16

const optionalTime = Schema.NullOr(Instant)

const PlayerRow = Schema.Struct({
  ...ConsentRow.fields,
  currency: Schema.String,
  moved_from: Schema.NullOr(Schema.String),
  looser_from: optionalTime,
  status: Schema.Literals(playerStatuses),
  can_login: Schema.Boolean,
  can_deposit: Schema.Boolean,
  can_bet: Schema.Boolean,
  exclusion_type: Schema.NullOr(Schema.Literals(exclusionTypes)),
  exclusion_since: optionalTime,
  exclusion_until: optionalTime,
  exclusion_return_from: optionalTime,
  exclusion_return_at: optionalTime,
  registers: Schema.Array(RegisterStanding)
})

type Row = typeof PlayerRow.Type

const playerRows = rowsOf(PlayerRow)
const playerColumns = columnsOf(PlayerRow)

const checkRows = rowsOf(Schema.Struct({
  player_id: Schema.Number,
  kind: Schema.Literals(registerKinds),
  verdict: Schema.Literals(registerVerdicts),
  at: Instant,
  digest: Schema.NullOr(Schema.Uint8Array)
}))

type StoredAnswer = {
  readonly verdict: "clear" | "excluded" | "previous"
  readonly at: number
  readonly digest: Uint8Array | null
}

const tooMany = refuse("TRY_AGAIN", "Too many audience queries are running. Send the same request again.", {
  retry: "same_request"
})

export interface AudienceQuery {
  readonly channel: string
  readonly product: string
  readonly playerIds: ReadonlyArray<number>
}

/** Whether an exclusion of any type runs. */
const isExcluded = (row: Row, now: number): boolean => {
  const exclusion = exclusionOf({
    type: row.exclusion_type,
    since: row.exclusion_since,
    until: row.exclusion_until,
    source: null,
    returnFrom: row.exclusion_return_from,
    returnAt: row.exclusion_return_at
  })
  const end = exclusion === null ? null : exclusionEnd(exclusion)
  return exclusion !== null && (end === null || now < end)
}

/** Why a player may not be addressed, without asking anybody; undefined where nothing is known against it. */
const refusalOf = (
  row: Row,
  { channel, product }: AudienceQuery,
  { channels, products }: Rules["consents"],
  now: number
): Reason | undefined => {
  const isKnown = channels.includes(channel) && products.includes(product)
  if (!isKnown || saidOf(statementsOf(row), channel, product)?.granted !== true) return "no_consent"
  if (isExcluded(row, now)) return "excluded"
  // whoever the last answer about play excludes is not told anything either
  if (row.registers.some(({ verdict }) => verdict === "excluded")) return "register_excluded"
  return row.status === "active" && row.can_login && row.can_deposit && row.can_bet ? undefined : "restricted"
}

/** A player whom a register may have to be asked about. */
interface Candidate {
  readonly playerId: number
  readonly rules: Rules
  readonly use: NonNullable<Rules["registers"][number]["on"]["marketing"]>
  readonly lastGoodMaxAge: string | null
}

export class Audiences extends Context.Service<Audiences, {
  /**
   * Who of an operator's players may be addressed by a channel about a product. Registers are asked about those whom nothing else refuses, unless a good
   * answer for marketing is fresh enough; each question is kept as proof. Four audiences at a time at each node; others wait for ten seconds at most.
   */
  readonly find: (
    operatorId: number,
    query: AudienceQuery
  ) => Effect.Effect<typeof Audience.Type, Refusal<"TRY_AGAIN">>
}>()("pitboss/consents/Audiences") {
  static readonly layer = Layer.effect(
    Audiences,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const book = yield* ProfileBook
      const personal = yield* PersonalData
      const questions = yield* RegisterQuestions
      const registers = yield* Registers
      const people = yield* RegisterPeople
      const rulesOf = yield* makeConsentRules
      const patienceMs = yield* AudiencePatience
      const limited = (yield* makeConcurrencyLimit({ maxRunning: 4, maxWaiting: 40, maxWait: "10 seconds" }))(tooMany)

      /** Newest proper answers of a register to questions for marketing, by player: no other answer counts here. */
      const storedAnswers = (kind: RegisterKind, playerIds: ReadonlyArray<number>) =>
        Effect.map(
          checkRows(
            sql`SELECT DISTINCT ON (player_id) player_id, kind, verdict, answered_at AS at, person_digest AS digest
              FROM register_checks
              WHERE player_id = ANY(${
              numbers(playerIds)
            }::float8[]::bigint[]) AND kind = ${kind} AND event = 'marketing'
                AND verdict <> 'unavailable'
              ORDER BY player_id, answered_at DESC, id DESC`
          ),
          (rows) => new Map(rows.map((row): readonly [number, StoredAnswer] => [row.player_id, row]))
        )

      const isAbout = (person: Person, { digest }: StoredAnswer) =>
        digest !== null && Buffer.from(digest).equals(personDigest(personal, person))

      /** What one register makes of some players; a player without an entry may be addressed. */
      const judge = Effect.fnUntraced(function*(
        operatorId: number,
        kind: RegisterKind,
        candidates: ReadonlyArray<Candidate>,
        deadline: number
      ) {
        const refused = new Map<number, Reason>()
        const batch = yield* questions.batchOf(operatorId, kind, "marketing")
        const size = batch?.maxQuestions ?? 500
        for (let first = 0; first < candidates.length; first += size) {
          const slice = candidates.slice(first, first + size)
          const ids = slice.map(({ playerId }) => playerId)
          const known = yield* people.of(ids, kind)
          const stored = yield* storedAnswers(kind, ids)
          const now = yield* Clock.currentTimeMillis
          /** A good answer about the person as known now, and not older than some age. */
          const goodSince = ({ playerId }: Candidate, age: string | null): boolean => {
            const [answer, person] = [stored.get(playerId), known.get(playerId)]
            return answer !== undefined && person !== undefined && answer.verdict !== "excluded" &&
              isAbout(person, answer) && (age === null || now < after(age, answer.at))
          }
          const asking = slice.flatMap((candidate) => {
            const person = known.get(candidate.playerId)
            return person === undefined || goodSince(candidate, candidate.use.max_age) ? [] : [{ ...candidate, person }]
          })
          const inTime = Effect.map(Clock.currentTimeMillis, (at) => at < deadline)
          const asked: ReadonlyArray<Asked | undefined> = !(yield* inTime)
            ? []
            : batch === undefined
            ? yield* Effect.forEach(asking, ({ person }) =>
              Effect.flatMap(inTime, (isInTime) =>
                isInTime
                  ? questions.ask(operatorId, kind, { event: "marketing", person })
                  : Effect.undefined), { concurrency: oneByOne })
            : yield* questions.askMany(operatorId, kind, asking.map(({ person }) => person), "marketing")
          yield* registers.keepMarketing(
            operatorId,
            asking.flatMap(({ person, playerId, rules }, index) => {
              const told = asked[index]
              return told === undefined ? [] : [{ playerId, rules, kind, person, asked: told }]
            })
          )
          for (const [index, candidate] of asking.entries()) {
            const verdict = asked[index]?.verdict ?? "unavailable"
            if (verdict === "excluded") refused.set(candidate.playerId, "register_excluded")
            else if (verdict === "unavailable") {
              const { use: { unavailable }, lastGoodMaxAge } = candidate
              const goesOn = unavailable === "allow" ||
                unavailable === "last_good" && goodSince(candidate, lastGoodMaxAge)
              if (!goesOn) refused.set(candidate.playerId, "register_unavailable")
            }
          }
        }
        return refused
      })

      const findNow = Effect.fnUntraced(function*(operatorId: number, query: AudienceQuery) {
        const now = yield* Clock.currentTimeMillis
        const ids = [...new Set(query.playerIds)]
        const found = yield* playerRows(
          sql`SELECT ${sql.literal(playerColumns)} FROM players
            WHERE operator_id = ${operatorId} AND id = ANY(${numbers(ids)}::float8[]::bigint[])`
        )
        const byId = new Map(found.map((row) => [row.id, row]))
        const reasons = new Map<number, Reason>()
        const byKind = new Map<RegisterKind, Array<Candidate>>()
        for (const id of ids) {
          const row = byId.get(id)
          const reason = row === undefined ? "not_found" : refusalOf(row, query, rulesOf(row.jurisdiction, now), now)
          if (reason !== undefined) reasons.set(id, reason)
          if (reason !== undefined || row === undefined) continue
          const { currency, jurisdiction: code, looser_from: looserFrom, moved_from: movedFrom } = row
          // of who was moved lately, the registers that were asked before are asked as well
          const moved = movedOf({ movedFrom, looserFrom })
          const rules = book.rulesFor({ currency, operatorId, rules: { code, moved } }, now)
          if (rules === undefined) {
            reasons.set(id, "register_unavailable")
            continue
          }
          for (const { kind, last_good_max_age: lastGoodMaxAge, on: { marketing: use } } of rules.registers) {
            if (use === undefined) continue
            const candidate = { playerId: id, rules, use, lastGoodMaxAge }
            const others = byKind.get(kind)
            if (others === undefined) byKind.set(kind, [candidate])
            else others.push(candidate)
          }
        }
        const judged = yield* Effect.forEach(
          byKind,
          ([kind, candidates]) => judge(operatorId, kind, candidates, now + patienceMs),
          { concurrency: "unbounded" }
        )
        for (const refused of judged) {
          for (const [id, reason] of refused) if (reasons.get(id) !== "register_excluded") reasons.set(id, reason)
        }
        return {
          allowed: ids.filter((id) => !reasons.has(id)),
          refused: ids.flatMap((id) => {
            const reason = reasons.get(id)
            return reason === undefined ? [] : [{ player_id: id, reason }]
          })
        }
      })

      return Audiences.of({
        find: Effect.fn("Audiences.find")(
          (operatorId, query) => limited(findNow(operatorId, query)),
          orTryAgain
        )
      })
    })
  )
}
