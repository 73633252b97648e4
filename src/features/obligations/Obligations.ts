/**
 * Player obligations under the jurisdiction's rules, such as a limit review, and the acknowledgements that answer them; read and written through the
 * player's actor.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Acknowledgement, Obligation } from "../../contract/obligations/ObligationResource.ts"
import { StaffObligation } from "../../contract/obligations/StaffApi.ts"
import type { IdempotencyClaim, RenderedReply } from "../../domain/state/Idempotency.ts"
import { type Acknowledge, type AcknowledgeRefusal, acknowledgeStep } from "../../domain/limit/Acknowledgements.ts"
import { applyRulesStep } from "../../domain/limit/CappedLimits.ts"
import { type Waive, type WaiveRefusal, waiveStep } from "../../domain/limit/Waivers.ts"
import type { NewAcknowledgement, Obligation as DomainObligation } from "../../domain/state/Obligation.ts"
import { checkGatesAt } from "../../domain/obligation/Obligations.ts"
import type { Player } from "../../domain/state/Player.ts"
import { checkInterval } from "../../domain/state/PlaySession.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { storingReply } from "../../domain/state/StoringReply.ts"
import { iso } from "../../platform/Time.ts"
import { mapPart, type Part, type PartQuery } from "../../store/Cursors.ts"
import { lastFirst, listOf, unscopedListOf } from "../../store/Lists.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { recordsOf } from "../../store/Records.ts"
import { orTryAgain, type Page, type PageQuery } from "../../store/Rows.ts"

type ObligationFields = typeof Obligation.Type
type AcknowledgementFields = typeof Acknowledgement.Type

const notFound = refuse("NOT_FOUND", "There is no such obligation.")

/** Obligations of a player that are shown: there are few, and the newest count. */
const maxShown = 100

/** An acknowledgement under its wire names. */
export const acknowledgementFields = (made: NewAcknowledgement): AcknowledgementFields => ({
  id: made.id,
  kind: made.kind,
  answer: made.answer,
  field: made.field,
  obligation_id: made.obligationId,
  text_version: made.textVersion,
  channel: made.channel,
  by: made.by,
  at: iso(made.at)
})

export class Obligations extends Context.Service<Obligations, {
  /** A player's obligations, newest first, 100 at most: for others than staff without those that would warn the player of a case. What is new, or met by now, is written first. */
  readonly list: (
    operatorId: number,
    playerId: number,
    state?: DomainObligation["state"],
    audience?: "staff"
  ) => Effect.Effect<ReadonlyArray<ObligationFields>, ActorRefusal>
  /** As `list`, for staff: of a player of any operator, by cursor. */
  readonly walk: (
    playerId: number,
    query: PartQuery & { readonly state?: DomainObligation["state"] | undefined }
  ) => Effect.Effect<Part<StaffObligation>, Refusal<"VALIDATION_FAILED"> | ActorRefusal>
  /** Waives an open obligation of any player, together with its gates; one that was waived stays as it is. */
  readonly waive: (
    obligationId: number,
    command: Omit<Waive, "obligationId">
  ) => Effect.Effect<StaffObligation, WaiveRefusal | ActorRefusal>
  /** Takes down an answer; effect and reply commit together. */
  readonly acknowledge: (
    operatorId: number,
    playerId: number,
    command: Acknowledge,
    answering: {
      readonly claim: IdempotencyClaim | undefined
      readonly render: (made: NewAcknowledgement) => RenderedReply
    }
  ) => Effect.Effect<NewAcknowledgement, AcknowledgeRefusal | ActorRefusal>
  /** Answers of a player, newest first. */
  readonly acknowledgements: (
    operatorId: number,
    playerId: number,
    query: PageQuery
  ) => Effect.Effect<Page<AcknowledgementFields>, ActorRefusal>
}>()("pitboss/obligations/Obligations") {
  static readonly layer = Layer.effect(
    Obligations,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const obligations = yield* recordsOf("obligations", Obligation)
      const ofStaff = yield* recordsOf("obligations", StaffObligation)
      const rows = yield* recordsOf("acknowledgements", Acknowledgement)
      const listed = unscopedListOf<
        StaffObligation,
        { readonly playerId: number; readonly state?: DomainObligation["state"] | undefined },
        "last"
      >(sql, {
        record: "playerId",
        read: (where, end) => ofStaff.all(sql`${where} ${end}`),
        filters: { playerId: (id) => sql`player_id = ${id}::float8::bigint`, state: (state) => sql`state = ${state}` },
        orders: { last: lastFirst("id") }
      })
      /** Writes what is new, or met by now; gives what to add to the details of an obligation. */
      const note = Effect.fnUntraced(function*(operatorId: number | null, playerId: number) {
        const player = yield* actors.ask<Player, never>(operatorId, playerId, applyRulesStep)
        /** What belongs to an open one, and can change while it is. */
        const detailsOf = ({ due_at: dueAt, kind }: ObligationFields) =>
          kind === "terms"
            ? { text_version: player.rules.terms }
            : kind === "reality_check" && dueAt !== null
            ? { interval: checkInterval(player), gates_from: iso(checkGatesAt(player, Date.parse(dueAt))) }
            : {}
        return <Shown extends ObligationFields>(one: Shown): Shown =>
          one.state === "open" ? { ...one, details: { ...one.details, ...detailsOf(one) } } : one
      })
      const given = listOf<AcknowledgementFields, { readonly playerId: number }, "newest">(sql, {
        operator: "operator_id",
        read: (ofList, end) => rows.all(sql`${ofList} ${end}`),
        filters: { playerId: (value) => sql`player_id = ${value}::float8::bigint` },
        orders: { newest: { descending: true, keys: [{ column: "id", kind: "integer", of: ({ id }) => id }] } }
      })
      return Obligations.of({
        list: Effect.fn("Obligations.list")(function*(operatorId, playerId, state, audience) {
          const detailed = yield* note(operatorId, playerId)
          const ofState = state === undefined ? sql`true` : sql`state = ${state}`
          // where the money is from the player is asked in staff's own words
          const isShown = audience === "staff" ? sql`true` : sql`(is_told OR kind = 'source_of_funds')`
          const found = yield* orTryAgain(obligations.all(
            sql`player_id = ${playerId} AND operator_id = ${operatorId} AND ${ofState} AND ${isShown}
              ORDER BY id DESC LIMIT ${maxShown}`
          ))
          return found.map(detailed)
        }),
        walk: Effect.fn("Obligations.walk")(function*(playerId, { cursor, limit, state }) {
          const detailed = yield* note(null, playerId)
          return mapPart(yield* orTryAgain(listed.part(null, { playerId, state, cursor, limit }, "last")), detailed)
        }),
        waive: Effect.fn("Obligations.waive")(function*(obligationId, command) {
          const find = orTryAgain(ofStaff.find(sql`id = ${obligationId}::float8::bigint`)).pipe(
            Effect.flatMap((found) => found === undefined ? Effect.fail(notFound) : Effect.succeed(found))
          )
          const found = yield* find
          if (found.state === "waived") return found
          yield* actors.ask(null, found.player_id, waiveStep({ ...command, obligationId }))
          return yield* find
        }),
        acknowledge: Effect.fn("Obligations.acknowledge")((operatorId, playerId, command, { claim, render }) =>
          actors.ask(operatorId, playerId, storingReply(acknowledgeStep(command), claim, render))
        ),
        acknowledgements: Effect.fn("Obligations.acknowledgements")(function*(operatorId, playerId, query) {
          yield* actors.read(operatorId, playerId)
          return yield* orTryAgain(given.page([operatorId], { playerId, ...query }, "newest", rows.count))
        })
      })
    })
  )
}
