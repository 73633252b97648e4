/** Obligations of players and their answers, read and written through the player's actor. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Acknowledgement, Obligation } from "../../contract/obligations/ObligationResource.ts"
import type { IdempotencyClaim, RenderedReply } from "../../domain/state/Idempotency.ts"
import { type Acknowledge, type AcknowledgeRefusal, acknowledgeStep } from "../../domain/limit/Acknowledgements.ts"
import { noteObligations } from "../../domain/obligation/Obligations.ts"
import type { NewAcknowledgement, Obligation as DomainObligation } from "../../domain/state/Obligation.ts"
import type { Player } from "../../domain/state/Player.ts"
import { storingReply } from "../../domain/state/StoringReply.ts"
import { iso } from "../../platform/Time.ts"
import { listOf } from "../../store/Lists.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { recordsOf } from "../../store/Records.ts"
import { orTryAgain, type Page, type PageQuery } from "../../store/Rows.ts"

type ObligationFields = typeof Obligation.Type
type AcknowledgementFields = typeof Acknowledgement.Type

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
  /** A player's obligations, newest first, 100 at most. What is new, or met by now, is written first. */
  readonly list: (
    operatorId: number,
    playerId: number,
    state?: DomainObligation["state"]
  ) => Effect.Effect<ReadonlyArray<ObligationFields>, ActorRefusal>
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
      const rows = yield* recordsOf("acknowledgements", Acknowledgement)
      const given = listOf<AcknowledgementFields, { readonly playerId: number }, "newest">(sql, {
        operator: "operator_id",
        read: (ofList, end) => rows.all(sql`${ofList} ${end}`),
        filters: { playerId: (value) => sql`player_id = ${value}::float8::bigint` },
        orders: { newest: { descending: true, keys: [{ column: "id", kind: "integer", of: ({ id }) => id }] } }
      })
      return Obligations.of({
        list: Effect.fn("Obligations.list")(function*(operatorId, playerId, state) {
          yield* actors.ask<Player, never>(operatorId, playerId, noteObligations)
          const ofState = state === undefined ? sql`true` : sql`state = ${state}`
          return yield* orTryAgain(obligations.all(
            sql`player_id = ${playerId} AND operator_id = ${operatorId} AND ${ofState} ORDER BY id DESC LIMIT ${maxShown}`
          ))
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
