/**
 * Issues, cancels and lists free rounds at vendors. The row is written before the vendor is called, under the reference sent to the vendor: a retry
 * with the same idempotency key refers to the same free rounds, and wins are recognised even if the vendor's answer was lost.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type FreeRoundsStatus, refuseFreeRounds } from "../../domain/bonus/FreeRounds.ts"
import type { IdempotencyClaim } from "../../domain/state/Idempotency.ts"
import type { KeyedReply } from "../../domain/state/StoringReply.ts"
import { outcomeUnknown, type Refusal, refuse, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { minorDigits } from "../../domain/Standards.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { Ids } from "../../platform/Ids.ts"
import { sha256 } from "../../platform/Secrets.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { fromUnits } from "../../protocols/Decimal.ts"
import type { Outbound } from "../../protocols/Protocol.ts"
import { Idempotency } from "../../store/Idempotency.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { mapPart, type Part, type PartQuery } from "../../store/Cursors.ts"
import { newestFirst, unscopedListOf } from "../../store/Lists.ts"
import { recordsOf } from "../../store/Records.ts"
import { isStorable, oneOf, orTryAgain, type Page, type PageQuery, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import type { Game } from "../games/Game.ts"
import { Games } from "../games/Games.ts"
import { PlayerRefs } from "../games/PlayerRefs.ts"
import { vendorRefusal, Vendors } from "../integrations/Vendors.ts"
import { type SpendingRefusal, StaffSpending } from "../../office/StaffSpending.ts"
import type { Spender } from "../../office/SpendingFacts.ts"
import { FreeRounds as Resource } from "../../contract/freeRounds/FreeRoundsResource.ts"

type Resource = typeof Resource.Type

const Row = Schema.Struct({
  ...Resource.fields,
  operator_id: Schema.Number,
  provider_id: Schema.Number,
  created_by: Schema.String
})

type Row = typeof Row.Type

export interface FreeRoundsRequest {
  readonly gameId: number
  readonly rounds: number
  /** Of each round, minor units of the player's currency. */
  readonly stake: number
  readonly validDays: number
}

/** Free rounds as the wallet of a protocol asks for them. */
export interface IssuedFreeRounds {
  readonly id: number
  readonly playerId: number
  readonly status: FreeRoundsStatus
}

const issuedRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  playerId: Schema.Number,
  status: Resource.fields.status
}))

type Invalid = Refusal<"BONUS_INVALID">

export type IssueRefusal = Invalid | Refusal<"PLAYER_RESTRICTED"> | ActorRefusal

const dayMs = 86_400_000

const notFound = refuse("NOT_FOUND", "There are no such free rounds.")
const noRounds = refuse(
  "BONUS_INVALID",
  "This game has no free rounds: its provider's protocol does not support them.",
  {
    reason: "not_offered"
  }
)

const refusedByVendor = vendorRefusal((word): Invalid =>
  refuse("BONUS_INVALID", "The vendor refused the request.", { reason: "vendor", vendor: word })
)

/** After the vendor was asked without an idempotency key: the next request has another reference, and might be a second grant. */
const grantedPerhaps = <E extends Refusal>(refusal: E): E | Refusal<"TRY_AGAIN"> =>
  refusal.code === "TRY_AGAIN"
    ? { ...outcomeUnknown, details: { ...refusal.details, ...outcomeUnknown.details } }
    : refusal

/** An operator cannot repair settings of a provider. */
const settingsUnusable = ({ code }: Refusal<"INVALID_REQUEST" | "NOT_FOUND" | "TRY_AGAIN">) =>
  code === "NOT_FOUND" ? notFound : temporarilyUnavailable

/** 96 bits: letters and digits that every vendor takes. */
const referenceOf = (bytes: Uint8Array): string => `fr${Buffer.from(bytes.subarray(0, 12)).toString("hex")}`

/** Free rounds as they are shown. */
const shown = ({ created_by: _by, operator_id: _operator, provider_id: _provider, ...resource }: Row): Resource =>
  resource

export class FreeRounds extends Context.Service<FreeRounds, {
  /** Gives free rounds to a player of this operator, or of any with null. Not to be interrupted. */
  readonly issue: (
    operatorId: number | null,
    playerId: number,
    request: FreeRoundsRequest,
    actor: { readonly label: string },
    answering?: KeyedReply<Resource>
  ) => Effect.Effect<Resource, IssueRefusal>
  /** As `issue`, by staff: the stakes count in the daily budget. */
  readonly staffIssue: (
    playerId: number,
    request: FreeRoundsRequest,
    actor: Spender
  ) => Effect.Effect<Resource, IssueRefusal | SpendingRefusal>
  /** Cancels unplayed free rounds; idempotent. */
  readonly cancel: (
    owner: { readonly operatorId: number; readonly playerId: number } | null,
    id: number,
    actor: { readonly label: string }
  ) => Effect.Effect<Resource, Invalid | ActorRefusal>
  /** Free rounds of an operator's player, newest first. */
  readonly list: (
    operatorId: number,
    playerId: number,
    query: PageQuery
  ) => Effect.Effect<Page<Resource>, ActorRefusal>
  /** As `list` by cursor, of any operator's player; without a count. */
  readonly walk: (
    playerId: number,
    query: PartQuery
  ) => Effect.Effect<Part<Resource>, Refusal<"VALIDATION_FAILED"> | ActorRefusal>
  /** Free rounds by the reference given to the vendor, or by the vendor's own. */
  readonly find: (
    providerId: number,
    reference: string
  ) => Effect.Effect<IssuedFreeRounds | undefined, Refusal<"TRY_AGAIN">>
  /** Records the vendor's end of free rounds with their winnings in minor units; the first end counts. */
  readonly finish: (id: number, won: number | null) => Effect.Effect<void, Refusal<"TRY_AGAIN">>
}>()("pitboss/freeRounds/FreeRounds") {
  static readonly layer = Layer.effect(
    FreeRounds,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const games = yield* Games
      const vendors = yield* Vendors
      const refs = yield* PlayerRefs
      const ids = yield* Ids
      const entropy = yield* Entropy
      const auditLog = yield* AuditLog
      const idempotency = yield* Idempotency
      const spending = yield* StaffSpending
      const records = yield* recordsOf("free_rounds", Row, {
        from: "free_rounds f JOIN providers p ON p.id = f.provider_id",
        reads: { id: "f.id", created_at: "f.created_at", updated_at: "f.updated_at" },
        computed: { provider: "p.slug" }
      })

      /** Capabilities of a game's vendor, and its client. */
      const vendorOf = Effect.fnUntraced(function*(game: Game | undefined, operatorId: number) {
        if (game === undefined || game.original !== null || game.provider.protocol === "pitboss") {
          return yield* Effect.fail(noRounds)
        }
        const { outbound, tools } = yield* Effect.mapError(vendors.find(game.provider.id, operatorId), settingsUnusable)
        const freeRounds: Outbound["freeRounds"] = outbound.freeRounds
        return freeRounds === undefined ? yield* Effect.fail(noRounds) : { freeRounds, tools }
      })

      const insert = Effect.fnUntraced(function*(fresh: Omit<Row, "id" | "reference">, reference: string) {
        const id = yield* Effect.mapError(ids.reserve(1), () => temporarilyUnavailable)
        const row: Row = { ...fresh, id, reference }
        yield* Effect.catchIf(
          records.insert(row),
          ({ reason }) => reason._tag === "UniqueViolation",
          // by the same request in another process
          () => Effect.fail(temporarilyUnavailable)
        )
        return row
      })

      /** The row of an earlier try of the same request; a new one where there was none. */
      const begin = Effect.fnUntraced(function*(
        fresh: Omit<Row, "id" | "reference">,
        claim: IdempotencyClaim | undefined,
        now: number
      ) {
        const earlier = claim === undefined
          ? undefined
          : referenceOf(sha256(Buffer.concat([Buffer.from(`${claim.scope}\n${claim.key}\n`), claim.fingerprint])))
        if (earlier !== undefined) {
          const row = yield* records.find(sql`f.provider_id = ${fresh.provider_id} AND f.reference = ${earlier}`)
          if (row === undefined) return yield* insert(fresh, earlier)
          // an idempotency key means the same request for a day
          if (Date.parse(row.created_at) > now - dayMs) return row
        }
        return yield* insert(fresh, referenceOf(entropy.bytes(12)))
      }, orTryAgain)

      /** Records that the vendor has issued the free rounds, with the answer to the request. */
      const noteIssued = (
        row: Row,
        vendorReference: string,
        actor: { readonly label: string },
        answering: KeyedReply<Resource> | undefined
      ) =>
        auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const after: Row = {
              ...row,
              status: "issued",
              vendor_reference: isStorable(vendorReference) ? vendorReference.slice(0, 255) : null,
              updated_at: iso(now)
            }
            const written = yield* sql`UPDATE free_rounds
              SET status = 'issued', vendor_reference = ${after.vendor_reference}, updated_at = ${toDate(now)}
              WHERE id = ${row.id} AND status = 'failed' RETURNING id`
            // the vendor has said that they are over, or the same request was quicker in another process
            if (written.length === 0) return yield* Effect.fail(temporarilyUnavailable)
            if (answering?.claim !== undefined) {
              const reply = { ...answering.claim, ...answering.render(shown(after)), createdAt: now }
              yield* Effect.mapError(
                idempotency.insert(reply),
                (error) => error._tag === "SqlError" ? error : temporarilyUnavailable
              )
            }
            yield* record({
              action: "free_rounds.issue",
              operatorId: after.operator_id,
              playerId: after.player_id,
              subject: `free_rounds:${after.id}`,
              before: null,
              after: shown(after)
            })
            return after
          }))

      const issue: FreeRounds["Service"]["issue"] = Effect.fn("FreeRounds.issue")(
        function*(operatorId, playerId, request, actor, answering) {
          const player = yield* actors.read(operatorId, playerId)
          const now = yield* Clock.currentTimeMillis
          const refusal = refuseFreeRounds(player, now)
          if (refusal !== undefined) return yield* Effect.fail(refusal)
          const game = yield* games.get(request.gameId)
          const { freeRounds, tools } = yield* vendorOf(game, player.operatorId)
          const { country, currency, language } = player
          const claim = answering?.claim
          const row = yield* begin(
            {
              player_id: player.id,
              operator_id: player.operatorId,
              provider_id: game.provider.id,
              provider: game.provider.slug,
              game_id: game.id,
              vendor_reference: null,
              rounds: request.rounds,
              stake: request.stake,
              currency,
              status: "failed",
              valid_until: iso(now + request.validDays * dayMs),
              won: null,
              created_by: actor.label,
              created_at: iso(now),
              updated_at: iso(now)
            },
            claim,
            now
          )
          // issued before, without an answer that was kept
          if (row.status !== "failed") return shown(row)
          const atVendor = freeRounds.issue({
            reference: row.reference,
            playerRef: refs.playerRef(row.provider_id, player.id),
            currency,
            country,
            language,
            gameId: game.externalId,
            rounds: row.rounds,
            stake: fromUnits(row.stake, minorDigits(currency)),
            validUntil: Date.parse(row.valid_until)
          }, tools).pipe(
            Effect.mapError(refusedByVendor),
            Effect.flatMap((vendorReference) => noteIssued(row, vendorReference, actor, answering))
          )
          const issued = yield* claim === undefined ? Effect.mapError(atVendor, grantedPerhaps) : atVendor
          if (claim !== undefined) idempotency.noteStored(claim)
          return shown(issued)
        }
      )

      const staffIssue: FreeRounds["Service"]["staffIssue"] = (playerId, request, actor) =>
        // an unknown player is no spending
        Effect.andThen(
          actors.read(null, playerId),
          spending.spend(
            actor,
            { playerId, kind: "bonus", amount: request.rounds * request.stake },
            issue(null, playerId, request, actor),
            () => Effect.void
          )
        )

      const cancel: FreeRounds["Service"]["cancel"] = Effect.fn("FreeRounds.cancel")(
        function*(owner, id, actor) {
          if (owner !== null) yield* actors.read(owner.operatorId, owner.playerId)
          const found = yield* orTryAgain(records.find(sql`f.id = ${id}`))
          const isOwn = found !== undefined &&
            (owner === null || (found.operator_id === owner.operatorId && found.player_id === owner.playerId))
          if (!isOwn) return yield* Effect.fail(notFound)
          if (found.status === "cancelled") return shown(found)
          if (found.status === "finished") {
            return yield* Effect.fail(refuse("BONUS_INVALID", "The free rounds have ended.", { reason: "finished" }))
          }
          const { freeRounds, tools } = yield* vendorOf(yield* games.find(found.game_id), found.operator_id)
          const reference = found.vendor_reference ?? found.reference
          yield* freeRounds.cancel(reference, refs.playerRef(found.provider_id, found.player_id), tools).pipe(
            Effect.mapError(refusedByVendor)
          )
          return yield* auditLog.change(actor, ({ now, record }) =>
            Effect.gen(function*() {
              const after: Row = { ...found, status: "cancelled", updated_at: iso(now) }
              yield* sql`UPDATE free_rounds SET status = 'cancelled', updated_at = ${toDate(now)}
                WHERE id = ${id} AND status IN ('issued', 'failed')`
              yield* record({
                action: "free_rounds.cancel",
                operatorId: after.operator_id,
                playerId: after.player_id,
                subject: `free_rounds:${id}`,
                before: shown(found),
                after: shown(after)
              })
              return shown(after)
            }))
        }
      )

      const listed = unscopedListOf<Row, { readonly playerId: number }, "newest">(sql, {
        record: "playerId",
        read: (where, end) => records.all(sql`${where} ${end}`),
        filters: { playerId: (value) => sql`f.player_id = ${value}::float8::bigint` },
        orders: {
          newest: newestFirst("f.created_at", "f.id", ({ created_at: at }) => Date.parse(at))
        }
      })

      const list: FreeRounds["Service"]["list"] = Effect.fn("FreeRounds.list")(function*(operatorId, playerId, query) {
        yield* actors.read(operatorId, playerId)
        const { items, total } = yield* listed.page(null, { playerId, ...query }, "newest", records.count)
        return { items: items.map(shown), total }
      }, orTryAgain)

      const walk: FreeRounds["Service"]["walk"] = Effect.fn("FreeRounds.walk")(function*(playerId, query) {
        yield* actors.read(null, playerId)
        return mapPart(yield* listed.part(null, { playerId, ...query }, "newest"), shown)
      }, orTryAgain)

      const find: FreeRounds["Service"]["find"] = Effect.fn("FreeRounds.find")(function*(providerId, reference) {
        if (!isStorable(reference)) return undefined
        return yield* oneOf(issuedRows(
          sql`SELECT id, player_id AS "playerId", status FROM free_rounds
            WHERE provider_id = ${providerId} AND reference = ${reference}
            UNION ALL SELECT id, player_id, status FROM free_rounds
            WHERE provider_id = ${providerId} AND vendor_reference = ${reference} LIMIT 1`
        ))
      }, orTryAgain)

      const finish: FreeRounds["Service"]["finish"] = Effect.fn("FreeRounds.finish")(function*(id, won) {
        const now = yield* Clock.currentTimeMillis
        yield* sql`UPDATE free_rounds SET status = 'finished', won = ${won}, updated_at = ${toDate(now)}
          WHERE id = ${id} AND status <> 'finished'`
      }, orTryAgain)

      return FreeRounds.of({ issue, staffIssue, cancel, list, walk, find, finish })
    })
  ).pipe(Layer.provide([AuditLog.layer, Entropy.layer]))
}
