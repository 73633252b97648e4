/**
 * Registration and profile reads (SPEC section 4.2).
 *
 * Writes new players only, which no actor has loaded yet. Changes to an existing player go through its actor.
 */
import type { Exit } from "effect"
import { Clock, Context, Effect, Layer, Record, Schema, Struct } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { type IdempotencyClaim, type RenderedReply, replyPurpose } from "../../domain/state/Idempotency.ts"
import { initialLimits, limitsIn } from "../../domain/limit/DefaultLimits.ts"
import { noRules } from "../../domain/jurisdiction/Rules.ts"
import { readLimitChanges } from "../../domain/limit/LimitChanges.ts"
import type { Operator } from "../../domain/state/Operator.ts"
import { wireRestrictions } from "../../domain/player/AccountStatus.ts"
import { Identity } from "../../domain/player/Identity.ts"
import { type Refusal, refuse, refuseFields, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { noRestrictions } from "../../domain/state/Player.ts"
import { wire } from "../../domain/WireNames.ts"
import { Ids } from "../../platform/Ids.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { toDate } from "../../platform/Time.ts"
import { makeInsertPlayer } from "./internal/NewPlayer.ts"
import { holds, holdsByIndex, isRare, SearchBounds } from "./internal/PlayerSearch.ts"
import { makeProfileBatches, notFound } from "./internal/ProfileBatches.ts"
import { clashOf, makeFindTaken, taken } from "./internal/Uniqueness.ts"
import { withoutPersonal } from "../../store/EventData.ts"
import { makeFactorOf } from "../exchangeRates/CurrentRate.ts"
import { makeRefuseExcluded } from "./internal/ExcludedIdentities.ts"
import { mapPart, type Part, type PartQuery } from "../../store/Cursors.ts"
import { Outbox } from "../../store/Outbox.ts"
import type { Person } from "../../registers/Register.ts"
import { Registers } from "../registers/Registers.ts"
import { PasswordHashes } from "../../auth/PasswordHashes.ts"
import { makePlayerList, type PlayerListFilters } from "./PlayerList.ts"
import { playerColumns, type PlayerProfile, type PlayerRow, playerRows, toProfile } from "./PlayerProfile.ts"
import { person } from "../../contract/players/PlayerResource.ts"
import {
  checkRegistration,
  type FieldMessages,
  type Registration
} from "../../contract/players/RegistrationResource.ts"
import { OperatorClocks } from "../../store/OperatorClocks.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { makeRowCounts } from "../../store/RowCounts.ts"
import { isStorable, offsetOf, oneOf, orTryAgain, type Page, type PageQuery, rowsOf } from "../../store/Rows.ts"

/** Filters with the search. */
export interface PlayerFilters extends PlayerListFilters {
  /** Part of the username, e-mail or last name, in any case. */
  readonly search?: string | undefined
}

export interface PlayerQuery extends PlayerFilters, PageQuery {}

export interface RegisterOptions {
  readonly source: "api" | "site" | "back_office"
  /** The idempotency key of the request, if it came with one. */
  readonly claim?: IdempotencyClaim | undefined
  /** The answer to send and to store under the key. */
  readonly render: (player: PlayerProfile) => RenderedReply
}

export type Registered =
  | { readonly _tag: "Registered"; readonly player: PlayerProfile; readonly reply: RenderedReply }
  /** The key had been answered already: nothing was registered. */
  | { readonly _tag: "Replayed"; readonly reply: RenderedReply }

export type RegisterRefusal = Refusal<
  "VALIDATION_FAILED" | "SELF_EXCLUDED_IDENTITY" | "IDEMPOTENCY_KEY_REUSED" | "TRY_AGAIN"
>

/** A player as staff see one. */
export type StaffPlayer = PlayerProfile & { readonly operator_id: number }

type Unavailable = Refusal<"TRY_AGAIN">

/** An offset that no list reaches; the numbers of an array end not far beyond. */
const maxOffset = 2_000_000_000

const replayWindowMs = 24 * 60 * 60_000

const counts = rowsOf(Schema.Struct({ total: Schema.Number }))
const foundRows = rowsOf(Schema.Struct({ total: Schema.Number, ids: Schema.Array(Schema.Number) }))
const storedReplies = rowsOf(Schema.Struct({
  fingerprint: Schema.Uint8Array,
  status: Schema.Number,
  body: Schema.NullOr(Schema.String),
  body_sealed: Schema.NullOr(Schema.Uint8Array)
}))

/** The key was answered while this request was on its way. */
const alreadyAnswered = { _tag: "AlreadyAnswered" } as const

/** A person of whom nothing is known. */
const nobody = Record.map(person, () => null)

const personOf = (registration: Registration) => ({ ...nobody, ...Struct.pick(registration, Struct.keys(person)) })

/** The person of a registration as registers are asked about it. */
const askedAbout = (registration: Registration): Person => {
  const row = personOf(registration)
  return {
    firstName: row.first_name,
    lastName: row.last_name,
    lastNamePrefix: row.last_name_prefix,
    birthName: row.birth_name,
    birthPlace: row.birth_place,
    birthDate: row.birth_date,
    email: row.email,
    phone: row.phone,
    postcode: row.zip_code,
    personalId: row.personal_id,
    registerCode: null
  }
}

const toIdentity = Schema.decodeSync(wire(Identity))

const toRow = (
  id: number,
  operator: Operator,
  registration: Registration,
  source: RegisterOptions["source"],
  registers: PlayerRow["registers"],
  now: number
): PlayerRow => ({
  ...personOf(registration),
  language: registration.language ?? "en",
  currency: registration.currency ?? operator.currency,
  id,
  operator_id: operator.id,
  status: "active",
  category: "new",
  kyc_status: "not_started",
  is_verified: false,
  risk_level: "low",
  is_test: registration.is_test ?? false,
  jurisdiction: registration.jurisdiction ?? operator.defaultProfile,
  ...wireRestrictions(noRestrictions),
  exclusion_type: null,
  exclusion_since: null,
  exclusion_until: null,
  exclusion_return_from: null,
  exclusion_return_at: null,
  exclusion_source: null,
  registers,
  marketing_email: registration.marketing?.email ?? false,
  marketing_sms: registration.marketing?.sms ?? false,
  marketing_newsletter: registration.marketing?.newsletter ?? false,
  registration_source: source,
  registration_ip: registration.registration_ip ?? null,
  registration_promo_code: registration.promo_code ?? null,
  registration_affiliate_id: registration.affiliate_id ?? null,
  registration_btag: registration.btag ?? null,
  last_login_at: null,
  dormant_since: null,
  created_at: now,
  updated_at: now,
  numbers_sealed: null
})

export class Players extends Context.Service<Players, {
  /**
   * Registers a player with empty wallets and the operator's default limits. `body` is the request as it came; every bad field is named at once.
   * Player, wallets, the event `player.registered` and the stored answer commit together.
   */
  readonly register: (
    operator: Operator,
    body: { readonly [field: string]: unknown },
    options: RegisterOptions
  ) => Effect.Effect<Registered, RegisterRefusal>
  /** A player of an operator. */
  readonly get: (
    operatorId: number,
    playerId: number
  ) => Effect.Effect<PlayerProfile, Refusal<"NOT_FOUND"> | Unavailable>
  /** As `get`, without a fiber: `done` is called once, later. */
  readonly startGet: (
    operatorId: number,
    playerId: number,
    done: (exit: Exit.Exit<PlayerProfile, Refusal<"NOT_FOUND"> | Unavailable>) => void
  ) => void
  /** The players of an operator, newest first. A search of an operator with very many counts no further than some. */
  readonly list: (operatorId: number, query: PlayerQuery) => Effect.Effect<Page<PlayerProfile>, Unavailable>
  /** As `list`, from a player on: nothing is counted. */
  readonly walk: (
    operatorId: number,
    query: PlayerFilters & PartQuery
  ) => Effect.Effect<Part<PlayerProfile>, Refusal<"VALIDATION_FAILED"> | Unavailable>
  /** Any player, for staff. */
  readonly staffGet: (playerId: number) => Effect.Effect<StaffPlayer, Refusal<"NOT_FOUND"> | Unavailable>
}>()("pitboss/players/Players") {
  static readonly layer = Layer.effect(
    Players,
    Effect.gen(function*() {
      const clock = yield* Clock.Clock
      const clocks = yield* OperatorClocks
      const sql = yield* SqlClient.SqlClient
      const profiles = yield* makeProfileBatches
      const ids = yield* Ids
      const passwords = yield* PasswordHashes
      const outbox = yield* Outbox
      const personal = yield* PersonalData
      const secrets = yield* Secrets
      const players = playerRows(personal)
      const columns = sql.literal(playerColumns)
      const list = yield* makePlayerList
      const factorOf = yield* makeFactorOf
      const book = yield* ProfileBook
      const registers = yield* Registers
      const findTaken = yield* makeFindTaken
      const insertPlayer = yield* makeInsertPlayer
      const refuseExcluded = yield* makeRefuseExcluded
      const countPlayers = yield* makeRowCounts("players", "player_counts", ["status", "kyc_status"])

      /** The answer that is stored under a key, if there is one that still counts. */
      const findReply = Effect.fnUntraced(function*(claim: IdempotencyClaim, now: number) {
        const stored = yield* oneOf(storedReplies(
          sql`SELECT fingerprint, status, body, body_sealed FROM idempotency_keys
            WHERE scope = ${claim.scope} AND key = ${claim.key} AND created_at > ${toDate(now - replayWindowMs)}`
        ))
        if (stored === undefined) return undefined
        const body = stored.body_sealed === null
          ? stored.body
          : yield* Effect.orElseSucceed(secrets.openText(replyPurpose(claim), stored.body_sealed), () => null)
        if (
          // or erased with its player
          body === null || body === "" ||
          !Buffer.from(stored.fingerprint).equals(claim.fingerprint)
        ) {
          return yield* Effect.fail(
            refuse("IDEMPOTENCY_KEY_REUSED", "The idempotency key was used for a different request.")
          )
        }
        return { _tag: "Replayed", reply: { status: stored.status, body } } satisfies Registered
      })

      const insertReply = (claim: IdempotencyClaim, reply: RenderedReply, now: number, playerId: number) =>
        sql`INSERT INTO idempotency_keys (scope, key, fingerprint, status, body_sealed, created_at, player_id)
          VALUES (${claim.scope}, ${claim.key}, ${claim.fingerprint}, ${reply.status},
            ${secrets.seal(replyPurpose(claim), reply.body)}, ${toDate(now)}, ${playerId})
          ON CONFLICT (scope, key) DO UPDATE SET fingerprint = EXCLUDED.fingerprint, status = EXCLUDED.status,
            body = NULL, body_sealed = EXCLUDED.body_sealed, created_at = EXCLUDED.created_at,
            player_id = EXCLUDED.player_id
          WHERE idempotency_keys.created_at <= ${toDate(now - replayWindowMs)}
          RETURNING 1`

      const register = Effect.fn("Players.register")(
        function*(operator: Operator, body: { readonly [field: string]: unknown }, options: RegisterOptions) {
          const { claim } = options
          const now = yield* Clock.currentTimeMillis
          const { defaultProfile, profiles: codes } = operator
          const minimumAges = new Map(codes.flatMap((code) => {
            const counting = book.current(code, now)
            return counting === undefined ? [] : [[code, counting.profile.minimum_age] as const]
          }))
          const { messages, registration, unique } = checkRegistration(body, { defaultProfile, minimumAges }, now)

          /** Says which fields are taken, unless it was an earlier try of this same request that took them. */
          const refuseTaken = Effect.fnUntraced(function*(fields: FieldMessages) {
            const replayed = claim === undefined ? undefined : yield* findReply(claim, now)
            return replayed ?? (yield* Effect.fail(refuseFields({ ...messages, ...fields })))
          })

          const takenNow = yield* findTaken(operator.id, unique)
          if (registration === undefined || Object.keys(takenNow).length > 0) return yield* refuseTaken(takenNow)
          yield* refuseExcluded(operator.id, toIdentity(personOf(registration)), now)
          const { currency: base, defaultLimits } = operator
          const { currency = base } = registration
          const limits = limitsIn(defaultLimits, yield* factorOf({ currency, base }))
          // a player without the limits would be less protected than others, and numbers of another currency protect from nothing
          if (limits === null) {
            return yield* refuseTaken({
              currency: [`has no exchange rate to ${base}, which the operator's default limits need`]
            })
          }

          const { jurisdiction = defaultProfile } = registration
          if (!(yield* book.meet(jurisdiction, currency))) {
            return yield* refuseTaken({
              currency: ["has no exchange rate to that of the jurisdiction, whose rules have amounts"]
            })
          }

          const chosen = readLimitChanges(registration.limits ?? {})
          if ("_tag" in chosen) return yield* Effect.fail(chosen)
          const rules = book.rulesOf(jurisdiction, currency, now, operator.id) ?? noRules
          const initial = initialLimits(limits, chosen, rules)
          if ("_tag" in initial) return yield* Effect.fail(initial)

          const registering = yield* registers.beforeRegistration(operator.id, rules, askedAbout(registration))
          const write = Effect.gen(function*() {
            const passwordHash = registration.password === undefined
              ? yield* passwords.random
              : yield* passwords.hash(registration.password)
            // a register takes its time: the person may have been excluded meanwhile
            if (rules.registers.length > 0) {
              yield* refuseExcluded(operator.id, toIdentity(personOf(registration)), yield* Clock.currentTimeMillis)
            }
            // lists of players go by id, the newest first, whichever node registered them
            const id = yield* ids.reserveNewest(2).pipe(
              Effect.tapError(({ reason }) =>
                Effect.annotateLogs(Effect.logWarning("player id allocation failed"), { reason })
              ),
              Effect.mapError(() => temporarilyUnavailable)
            )
            const row = toRow(id, operator, registration, options.source, registering.standings, now)
            const player = toProfile(row, now)
            const reply = options.render(player)
            const event = { id: id + 1, data: JSON.stringify(withoutPersonal({ player })) }

            return yield* inTransaction(sql)(Effect.gen(function*() {
              // The key first: a retry that waits for its first try must not clash with that try's player before.
              if (claim !== undefined && (yield* insertReply(claim, reply, now, id)).length === 0) {
                return yield* Effect.fail(alreadyAnswered)
              }
              yield* insertPlayer({
                row,
                passwordHash,
                ...initial,
                termsVersion: registration.terms_version ?? null,
                event
              })
              yield* sql.afterCommit(Effect.sync(outbox.announce))
              yield* registering.write(id)
              return { _tag: "Registered", player, reply } satisfies Registered
            }))
          })
          return yield* write.pipe(
            // each question leaves its check, whatever becomes of the registration
            Effect.tapError(() => registering.writeAlone),
            Effect.catchTags({
              AlreadyAnswered: () =>
                Effect.flatMap(
                  claim === undefined ? Effect.undefined : findReply(claim, now),
                  (replayed) => replayed === undefined ? Effect.fail(temporarilyUnavailable) : Effect.succeed(replayed)
                ),
              SqlError: (error): Effect.Effect<Registered, RegisterRefusal | SqlError.SqlError> => {
                const field = clashOf(error)
                return field === undefined ? Effect.fail(error) : refuseTaken({ [field]: taken })
              }
            })
          )
        },
        orTryAgain
      )

      const select = (playerId: number) =>
        orTryAgain(oneOf(players(sql`SELECT ${columns} FROM players WHERE id = ${playerId}`)))

      /** Index or scan for a search text, and the maximum number of matches to count; undefined: all. */
      const searchFor = Effect.fnUntraced(
        function*(operatorId: number, search: string, wanted: number) {
          const { countAllUpTo } = yield* SearchBounds
          const many = yield* countPlayers({ operatorId, groups: {} })
          const byIndex = yield* isRare(sql, [operatorId], search, many, wanted)
          return { byIndex, maxMatches: byIndex || many <= countAllUpTo ? undefined : wanted }
        }
      )

      /**
       * Selects a page of matching players, newest first, with their number. Materialises all matches, or the first `maxMatches` of a scan from the
       * newest, since a plan for ORDER BY with LIMIT in one statement always scans. Sets work_mem for a bitmap of all candidates that does not become lossy.
       */
      const selectFound = Effect.fnUntraced(
        function*(
          ofList: Statement.Fragment,
          offset: number,
          limit: number,
          maxMatches: number | undefined
        ) {
          const first = Math.min(offset, maxOffset) + 1
          const [found] = yield* inTransaction(sql)(Effect.andThen(
            sql`SET LOCAL work_mem = '32MB'`,
            foundRows(
              sql`SELECT count(*) AS total,
              (coalesce(array_agg(id::float8 ORDER BY id DESC), '{}'))[${first}::int:${first + limit - 1}::int] AS ids
            FROM (SELECT id FROM players WHERE ${ofList} ${
                maxMatches === undefined ? sql`` : sql`ORDER BY id DESC LIMIT ${maxMatches}::float8::bigint`
              }) AS found`
            )
          ))
          const { ids, total } = found ?? { ids: [], total: 0 }
          const rows = ids.length === 0
            ? []
            : yield* players(sql`SELECT ${columns} FROM players WHERE ${sql.in("id", ids)} ORDER BY players.id DESC`)
          return { items: rows, total }
        }
      )

      const selectPage = Effect.fnUntraced(
        function*(operatorId: number, query: PlayerQuery): Effect.fn.Return<Page<PlayerRow>, SqlError.SqlError> {
          const { createdFrom, createdTo, email, externalId, kycStatus, perPage, search, status, username } = query
          if (search === undefined) {
            const isOfOne = [email, username, externalId].some((value) => value !== undefined)
            return yield* list.page([operatorId], query, "newest", (ofList) =>
              isOfOne
                ? Effect.map(
                  counts(sql`SELECT count(*) AS total FROM players WHERE ${ofList}`),
                  ([row]) => row?.total ?? 0
                )
                : countPlayers({ operatorId, groups: { status, kyc_status: kycStatus }, createdFrom, createdTo }))
          }
          const filtered = list.where([operatorId], query)
          if (filtered === undefined || !isStorable(search)) return { items: [], total: 0 }
          const offset = offsetOf(query)
          const { maxCounted } = yield* SearchBounds
          // one more than is returned, to know whether there are more
          const wanted = Math.max(maxCounted, offset + perPage) + 1
          const { byIndex, maxMatches } = yield* searchFor(operatorId, search, wanted)
          const { items, total } = yield* selectFound(
            sql`${filtered} AND ${(byIndex ? holdsByIndex : holds)(sql, search)}`,
            offset,
            perPage,
            maxMatches
          )
          return maxMatches !== undefined && total >= maxMatches
            ? { items, total: maxMatches - 1, more: true }
            : { items, total }
        },
        orTryAgain
      )

      const selectPart = Effect.fnUntraced(function*(operatorId: number, query: PlayerFilters & PartQuery) {
        const { limit, search } = query
        if (search === undefined) return yield* list.part([operatorId], query, "newest")
        if (!isStorable(search)) return { items: [], next: null }
        const { byIndex } = yield* searchFor(operatorId, search, limit + 1)
        return yield* list.part([operatorId], query, "newest", (ofList, end) =>
          byIndex
            ? Effect.map(
              selectFound(sql`${ofList} AND ${holdsByIndex(sql, search)}`, 0, limit + 1, undefined),
              ({ items }) => items
            )
            : players(sql`SELECT ${columns} FROM players WHERE ${ofList} AND ${holds(sql, search)} ${end}`))
      }, orTryAgain)

      const asStaffPlayer = Effect.fnUntraced(function*(row: PlayerRow | undefined) {
        if (row === undefined) return yield* Effect.fail(notFound)
        return {
          operator_id: row.operator_id,
          ...toProfile(row, clocks.at(row.operator_id, clock.currentTimeMillisUnsafe()))
        }
      })

      return Players.of({
        register,
        get: Effect.fn("Players.get")((operatorId, playerId) => profiles.put({ operatorId, playerId })),
        startGet: (operatorId, playerId, done) => profiles.post({ operatorId, playerId }, done),
        list: Effect.fn("Players.list")(function*(operatorId, query) {
          const { items, ...rest } = yield* selectPage(operatorId, query)
          const now = yield* Clock.currentTimeMillis
          return { items: items.map((row) => toProfile(row, now)), ...rest }
        }),
        walk: Effect.fn("Players.walk")(function*(operatorId, query) {
          const part = yield* selectPart(operatorId, query)
          const now = yield* Clock.currentTimeMillis
          return mapPart(part, (row) => toProfile(row, now))
        }),
        staffGet: Effect.fn("Players.staffGet")((playerId) => Effect.flatMap(select(playerId), asStaffPlayer))
      })
    })
  ).pipe(Layer.provide(PasswordHashes.layer))
}
