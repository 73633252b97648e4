/** Checks import lines by the registration rules, and posts them through the players' actors (docs/decisions/0068-moving-in.md). */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Crypto from "node:crypto"
import { PasswordHashes } from "../../auth/PasswordHashes.ts"
import { parseObject } from "../../contract/common/FormErrors.ts"
import { addTotals, type ImportTotals, maxLineValues, noTotals } from "../../contract/moving/LineResource.ts"
import type { ImportChunk } from "../../contract/moving/StaffApi.ts"
import type { UniqueFields } from "../../contract/players/RegistrationResource.ts"
import { limitsIn } from "../../domain/limit/DefaultLimits.ts"
import { noneProfile } from "../../domain/jurisdiction/BuiltIn.ts"
import { alsoWaitingUnder, joinedExclusion } from "../../domain/limit/Exclusions.ts"
import { isStrong } from "../../domain/limit/ExclusionTerms.ts"
import {
  Arrival,
  arriveStep,
  arrivingExclusion,
  arrivingPlayer,
  ArrivingWithdrawal,
  arrivingWithdrawalStep
} from "../../domain/moving/Arrival.ts"
import { allWithdrawn } from "../../domain/player/Consents.ts"
import { type Refusal, refuse, temporarilyUnavailable } from "../../domain/Refusal.ts"
import type { Limits } from "../../domain/state/Limits.ts"
import { Operator } from "../../domain/state/Operator.ts"
import { isCurrency } from "../../domain/Standards.ts"
import type { Actor } from "../../office/Actor.ts"
import { makeReferences } from "../../office/References.ts"
import { texts } from "../../platform/ArrayParameters.ts"
import { isOverfull } from "../../platform/JsonBounds.ts"
import { Ids } from "../../platform/Ids.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { OperatorClocks } from "../../store/OperatorClocks.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { columnsOf, oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { makeFactorOf } from "../exchangeRates/CurrentRate.ts"
import { toProfile } from "../players/PlayerProfile.ts"
import { arrivalRow } from "./internal/ArrivalRow.ts"
import { makeChunks } from "./internal/Chunks.ts"
import {
  type Examined,
  externalIdOf,
  fieldsOf,
  type KnownWithdrawal,
  namesOf,
  type NewPlayer,
  noRules,
  noRun,
  noSuchImport,
  noSuchPlayer,
  type Numbered,
  otherCurrency,
  refuseOther,
  refuseStatus,
  type Rejection,
  type Run,
  takenName,
  totalsOfArrival,
  totalsOfPlayer
} from "./internal/Examined.ts"
import { digestOf, isWithdrawal, readLine, reasonsOf } from "./internal/Lines.ts"
import { makeMatchedExclusions } from "./internal/MatchedExclusions.ts"
import { makeExamineWithdrawals } from "./internal/Withdrawals.ts"

type ImportChunk = typeof ImportChunk.Type

export interface SentLines {
  readonly first_line: number
  /** Each as its text. */
  readonly lines: ReadonlyArray<string>
}

export interface SentChunk extends SentLines {
  readonly number: number
}

type Unavailable = Refusal<"TRY_AGAIN">
type Wrong = Refusal<"INVALID_REQUEST">

const otherLines = refuse(
  "INVALID_REQUEST",
  "The chunk differs from the one that was checked: only what was approved can be posted."
)

const runRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  operator_id: Schema.Number,
  name: Schema.String,
  status: Schema.String,
  proposed_by: Schema.String,
  sends_events: Schema.Boolean,
  bonus_id: Schema.NullOr(Schema.Number),
  posting_at: Schema.NullOr(Schema.Date)
}))
const operatorRows = rowsOf(Operator)
const knownRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  externalId: Schema.String,
  lineDigest: Schema.NullOr(Schema.Uint8Array),
  isExcluded: Schema.Boolean
}))
const takenRows = rowsOf(
  Schema.Struct({ field: Schema.Literals(["username", "email", "phone"]), value: Schema.String })
)

export class Imports extends Context.Service<Imports, {
  /** Checks lines and writes nothing. */
  readonly check: (
    actor: Actor,
    operator: string,
    sent: SentLines
  ) => Effect.Effect<ImportChunk, Refusal<"NOT_FOUND"> | Unavailable>
  /**
   * Checks a chunk of an import that is being checked; posts one of an import that is approved: what the check refused stays refused. By who began it. A
   * chunk that was posted changes nothing again.
   */
  readonly put: (
    actor: Actor,
    runId: number,
    sent: SentChunk
  ) => Effect.Effect<ImportChunk, Refusal<"NOT_FOUND"> | Wrong | Unavailable>
  /** Chunks of an import after one, a hundred at most, with what became of them. */
  readonly chunks: (runId: number, after: number) => Effect.Effect<ReadonlyArray<ImportChunk>, Unavailable>
}>()("pitboss/moving/Imports") {
  static readonly layer = Layer.effect(
    Imports,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* Ids
      const book = yield* ProfileBook
      const actors = yield* PlayerActors
      const personal = yield* PersonalData
      const passwords = yield* PasswordHashes
      const references = yield* makeReferences
      const factorOf = yield* makeFactorOf
      const matchedExclusions = yield* makeMatchedExclusions
      const chunks = yield* makeChunks
      const examineWithdrawals = yield* makeExamineWithdrawals
      const remote = yield* RemoteCommands
      const clocks = yield* OperatorClocks

      const arrive = remote.define({
        name: "player.arrive",
        payload: Arrival,
        run: (playerId, arrival) =>
          clocks.around(arrival.operatorId)(Effect.flatMap(Clock.currentTimeMillis, (now) =>
            actors.create(
              arrivingPlayer(playerId, arrival),
              arriveStep(
                arrival,
                arrival.sendsEvents ? { player: toProfile(arrivalRow(playerId, arrival, now), now) } : null
              )
            )))
      })

      const arriveWithdrawal = remote.define({
        name: "player.arriving_withdrawal",
        payload: ArrivingWithdrawal,
        run: (playerId, withdrawal) => Effect.asVoid(actors.ask(null, playerId, arrivingWithdrawalStep(withdrawal)))
      })

      const operatorOf = Effect.fnUntraced(function*(operatorId: number) {
        const operator = yield* oneOf(operatorRows(
          sql`SELECT ${sql.literal(columnsOf(Operator))} FROM operators WHERE id = ${operatorId}`
        ))
        return operator ?? (yield* Effect.fail(noSuchImport))
      })

      const knownOf = (operatorId: number, lines: ReadonlyArray<Numbered>) =>
        Effect.map(
          knownRows(
            sql`SELECT p.id, p.external_id AS "externalId", i.line_digest AS "lineDigest",
                p.exclusion_type IS NOT NULL AS "isExcluded"
              FROM players p LEFT JOIN imported_players i ON i.player_id = p.id
              WHERE p.operator_id = ${operatorId}
                AND p.external_id = ANY (${texts(lines.flatMap(({ raw }) => externalIdOf(raw) ?? []))}::text[])`
          ),
          (rows) => new Map(rows.map((row) => [row.externalId, row]))
        )

      /** Unique fields that other players of the operator have, as `field value`. */
      const takenOf = (operatorId: number, unique: ReadonlyArray<UniqueFields>) => {
        const given = (field: keyof UniqueFields) =>
          texts(unique.flatMap((fields) => {
            const value = fields[field]
            return value === undefined ? [] : [field === "username" ? value.toLowerCase() : value]
          }))
        return Effect.map(
          takenRows(
            sql`SELECT 'username' AS field, lower(username) AS value FROM players
                WHERE operator_id = ${operatorId} AND lower(username) = ANY (${given("username")}::text[])
              UNION ALL SELECT 'email', email FROM players
                WHERE operator_id = ${operatorId} AND email = ANY (${given("email")}::text[])
              UNION ALL SELECT 'phone', phone FROM players
                WHERE operator_id = ${operatorId} AND phone = ANY (${given("phone")}::text[])`
          ),
          (rows) => new Set(rows.map(({ field, value }) => `${field} ${value}`))
        )
      }

      /** Default limits by currency, each converted once. */
      const defaultLimitsOf = Effect.fnUntraced(function*(operator: Operator, lines: ReadonlyArray<Numbered>) {
        const currencies = new Set([
          operator.currency,
          ...lines.flatMap(({ raw: { currency } }) =>
            typeof currency === "string" && isCurrency(currency) ? [currency] : []
          )
        ])
        const limits = new Map<string, Limits | null>()
        for (const currency of currencies) {
          const factor = yield* factorOf({ currency, base: operator.currency })
          limits.set(currency, limitsIn(operator.defaultLimits, factor))
        }
        return (currency: string): Limits | null => limits.get(currency) ?? null
      })

      /** Reads lines against the rules and what is there, but for those that were refused before. */
      const examine = Effect.fnUntraced(function*(
        actor: Actor,
        operator: Operator,
        run: Run,
        { first_line: firstLine, lines }: SentLines,
        refused: ReadonlyArray<Rejection>,
        now: number
      ) {
        const rejected: Array<Rejection> = [...refused]
        const left = new Set(refused.map(({ line }) => line))
        const numbered: Array<Numbered> = []
        for (const [index, text] of lines.entries()) {
          if (left.has(firstLine + index)) continue
          const raw = isOverfull(Buffer.from(text), maxLineValues) ? undefined : parseObject(text)
          if (raw !== undefined) numbered.push({ line: firstLine + index, raw })
          else rejected.push({ line: firstLine + index, reasons: ["must be a JSON object"] })
        }
        const withdrawals = numbered.filter(({ raw }) => isWithdrawal(raw))
        const players = numbered.filter(({ raw }) => !isWithdrawal(raw))
        const known = yield* knownOf(operator.id, players)
        const minimumAges = new Map(operator.profiles.flatMap((code) => {
          const counting = book.current(code, now)
          return counting === undefined ? [] : [[code, counting.profile.minimum_age] as const]
        }))
        const defaultLimits = yield* defaultLimitsOf(operator, players)
        let totals = noTotals
        const earlier = new Map<string, number>()
        const read: Array<{ readonly line: number; readonly arrival: Arrival; readonly unique: UniqueFields }> = []
        for (const { line, raw } of players) {
          const externalId = externalIdOf(raw)
          const same = externalId === undefined ? undefined : earlier.get(externalId)
          if (externalId !== undefined) earlier.set(externalId, same ?? line)
          const digest = personal.fingerprint(digestOf(raw))
          const found = externalId === undefined ? undefined : known.get(externalId)
          if (same !== undefined) rejected.push({ line, reasons: [`external_id is that of line ${same}`] })
          else if (found !== undefined) {
            if (found.lineDigest !== null && Buffer.compare(found.lineDigest, digest) === 0) {
              const currency = typeof raw["currency"] === "string" ? raw["currency"] : operator.currency
              totals = addTotals(totals, totalsOfPlayer(currency, raw, found.isExcluded))
            } else rejected.push({ line, reasons: ["differs"] })
          } else {
            const one = readLine(raw, {
              operatorId: operator.id,
              baseCurrency: operator.currency,
              terms: { minimumAges, defaultProfile: operator.defaultProfile },
              profileOf: (code) => book.current(code, now)?.profile,
              runId: run.id,
              batch: run.name,
              actor: actor.label,
              bonusId: run.bonus_id ?? 0,
              sendsEvents: run.sends_events,
              passwordHash: yield* passwords.random,
              defaultLimits,
              lineDigest: Buffer.from(digest).toString("hex"),
              now
            })
            if (one._tag === "Wrong") rejected.push({ line, reasons: reasonsOf(one.messages) })
            else read.push({ line, arrival: one.arrival, unique: one.unique })
          }
        }
        const taken = yield* takenOf(operator.id, read.map(({ unique }) => unique))
        const free = read.filter(({ arrival: { texts }, line }) => {
          const names = namesOf(texts)
          const reasons = names.filter((name) => taken.has(name)).map(takenName)
          if (reasons.length > 0) rejected.push({ line, reasons })
          else for (const name of names) taken.add(name)
          return reasons.length === 0
        })
        const rules = new Map<string, boolean>()
        const ruled: Array<(typeof free)[number]> = []
        for (const one of free) {
          const { currency, jurisdiction, moved } = one.arrival
          let unmet: string | undefined
          for (const code of moved === null ? [jurisdiction] : [jurisdiction, moved.from]) {
            const key = `${code} ${currency}`
            if (!rules.has(key)) rules.set(key, yield* book.meet(code, currency))
            if (rules.get(key) !== true) unmet = code
          }
          if (unmet === undefined) ruled.push(one)
          else rejected.push({ line: one.line, reasons: [noRules(unmet)] })
        }
        const matched = yield* matchedExclusions(
          operator.id,
          ruled.map(({ arrival }) => ({
            identity: {
              firstName: arrival.texts.first_name,
              middleName: arrival.texts.middle_name,
              lastName: arrival.texts.last_name,
              birthDate: arrival.birthDate,
              personalId: arrival.personalId,
              documentNumber: arrival.documentNumber
            },
            exclusion: arrivingExclusion(arrival)
          })),
          now
        )
        const newcomers = ruled.map(({ arrival, line }, index): NewPlayer => {
          const found = matched[index] ?? null
          const own = arrivingExclusion(arrival)
          if (found === null) return { line, arrival }
          const { breaks, consents } = book.current(arrival.jurisdiction, now)?.profile ?? noneProfile
          const exclusion = alsoWaitingUnder(breaks, own === null ? found : joinedExclusion(own, found, now))
          // as every exclusion that begins here
          const isWithdrawn = isStrong(exclusion.type) && consents.reset_on_exclusion
          return {
            line,
            arrival: {
              ...arrival,
              exclusion: fieldsOf(exclusion),
              ...(isWithdrawn
                ? { consents: [allWithdrawn(now)], marketing: { email: false, sms: false, newsletter: false } }
                : {})
            }
          }
        })
        return { newcomers, withdrawals, rejected, totals } satisfies Examined
      })

      const outcomeOf = (
        number: number,
        posted: boolean,
        totals: ImportTotals,
        rejected: ReadonlyArray<Rejection>
      ): ImportChunk => ({
        number,
        posted,
        totals: { ...totals, rejected: rejected.length },
        rejected: rejected.toSorted((one, other) => one.line - other.line)
      })

      const totalsOfWithdrawals = (found: ReadonlyArray<KnownWithdrawal>): ImportTotals =>
        found.reduce<ImportTotals>(
          (sum, { currency, withdrawal }) =>
            addTotals(sum, { ...noTotals, open_withdrawals: { [currency]: withdrawal.amount } }),
          noTotals
        )

      const checked = Effect.fnUntraced(function*(
        actor: Actor,
        operator: Operator,
        run: Run,
        sent: SentLines,
        number: number
      ) {
        const now = yield* Clock.currentTimeMillis
        const examined = yield* examine(actor, operator, run, sent, [], now)
        const { found, rejected } = yield* examineWithdrawals(actor, operator, run, examined, now)
        const totals = [
          ...examined.newcomers.map(({ arrival }) => totalsOfArrival(arrival)),
          totalsOfWithdrawals(found)
        ].reduce(addTotals, examined.totals)
        return {
          chunk: outcomeOf(number, false, totals, [...examined.rejected, ...rejected]),
          players: examined.newcomers.map(({ arrival: { currency, texts: { external_id: externalId } } }) => ({
            externalId: externalId ?? "",
            currency
          }))
        }
      })

      /** Outcome of one line: undefined where it is in. A failure that passes fails the chunk, which is sent again. */
      const reasonsFor = <E extends Refusal>(
        line: number,
        effect: Effect.Effect<void, E>
      ): Effect.Effect<Rejection | undefined, Unavailable> =>
        Effect.matchEffect(effect, {
          onSuccess: () => Effect.undefined,
          onFailure: ({ code, details, message }) =>
            code === "TRY_AGAIN" || code === "SERVER_ERROR"
              ? Effect.fail(temporarilyUnavailable)
              : Effect.succeed({
                line,
                reasons: code === "VALIDATION_FAILED"
                  ? Object.entries(details).map(([field, found]) =>
                    `${field} ${Array.isArray(found) ? found.join(", ") : ""}`
                  )
                  : [message]
              })
        })

      const posted = Effect.fnUntraced(function*(
        actor: Actor,
        operator: Operator,
        run: Run,
        sent: SentChunk,
        approved: ImportChunk
      ) {
        const now = yield* Clock.currentTimeMillis
        const examined = yield* examine(actor, operator, run, sent, approved.rejected, now)
        const { newcomers } = examined
        const firstId = newcomers.length === 0
          ? 0
          : yield* Effect.mapError(ids.reserveNewest(newcomers.length), () => temporarilyUnavailable)
        const refusals = yield* Effect.forEach(
          newcomers,
          ({ arrival, line }, index) => reasonsFor(line, arrive(firstId + index, arrival)),
          { concurrency: "unbounded" }
        )
        const { found, rejected } = yield* examineWithdrawals(actor, operator, run, examined, now)
        const planned = totalsOfWithdrawals(found).open_withdrawals
        const ofWithdrawals = yield* Effect.forEach(
          found,
          ({ currency, line, playerId, withdrawal }) =>
            playerId === undefined
              ? Effect.succeed<Rejection | undefined>({ line, reasons: [noSuchPlayer] })
              // the player is another one's now: of this currency less was approved
              : (planned[currency] ?? 0) > (approved.totals.open_withdrawals[currency] ?? 0)
              ? Effect.succeed<Rejection | undefined>({ line, reasons: [otherCurrency] })
              : reasonsFor(line, arriveWithdrawal(playerId, withdrawal)),
          { concurrency: 16 }
        )
        const isIn = (refusal: Rejection | undefined): boolean => refusal === undefined
        const totals = [
          ...newcomers.filter((_, index) => isIn(refusals[index])).map(({ arrival }) => totalsOfArrival(arrival)),
          totalsOfWithdrawals(found.filter((_, index) => isIn(ofWithdrawals[index])))
        ].reduce(addTotals, examined.totals)
        return outcomeOf(sent.number, true, totals, [
          ...examined.rejected,
          ...rejected,
          ...[...refusals, ...ofWithdrawals].flatMap((refusal) => refusal === undefined ? [] : [refusal])
        ])
      })

      const sha256Of = ({ first_line: firstLine, lines }: SentLines): Uint8Array =>
        new Uint8Array(Crypto.createHash("sha256").update(JSON.stringify([firstLine, lines])).digest())

      const put = Effect.fn("Imports.put")(function*(actor: Actor, runId: number, sent: SentChunk) {
        const run = yield* oneOf(runRows(
          sql`SELECT id, operator_id, name, status, proposed_by, sends_events, bonus_id, posting_at FROM import_runs
            WHERE id = ${runId}::float8::bigint`
        ))
        if (run === undefined) return yield* Effect.fail(noSuchImport)
        const other = refuseOther(actor, run)
        if (other !== undefined) return yield* Effect.fail(other)
        const operator = yield* operatorOf(run.operator_id)
        const byClock = clocks.around(operator.id)
        const sha256 = sha256Of(sent)
        if (run.status === "checking") {
          const { chunk, players } = yield* byClock(checked(actor, operator, run, sent, sent.number))
          return (yield* chunks.check(run, chunk, sha256, players))
            ? chunk
            : yield* Effect.fail(refuseStatus("proposed"))
        }
        if (run.status !== "approved" && run.status !== "posted") return yield* Effect.fail(refuseStatus(run.status))
        const approved = yield* chunks.find(runId, sent.number)
        if (approved === undefined || Buffer.compare(approved.linesSha256, sha256) !== 0) {
          return yield* Effect.fail(otherLines)
        }
        const { linesSha256: _, ...before } = approved
        if (before.posted) {
          // the process may have ended right after the last one
          if (run.status === "approved") yield* chunks.end(run)
          return before
        }
        if (run.posting_at === null && !(yield* chunks.begin(run, yield* Clock.currentTimeMillis))) {
          return yield* Effect.fail(refuseStatus("rejected"))
        }
        const post = byClock(posted(actor, operator, run, sent, before))
        const first = yield* post
        // the same chunk at the same time has brought what is taken, and by now is known
        const chunk = first.rejected.length === before.rejected.length ? first : yield* post
        yield* chunks.post(run, chunk)
        yield* chunks.end(run)
        return chunk
      }, orTryAgain)

      const check = Effect.fn("Imports.check")(function*(actor: Actor, operator: string, sent: SentLines) {
        const found = yield* operatorOf(yield* references.operatorId(operator))
        return (yield* clocks.around(found.id)(checked(actor, found, noRun, sent, 0))).chunk
      }, orTryAgain)

      return Imports.of({
        check,
        put,
        chunks: Effect.fn("Imports.chunks")((runId, after) => orTryAgain(chunks.after(runId, after)))
      })
    })
  ).pipe(Layer.provide(PasswordHashes.layer))
}
