/**
 * Outgoing calls to the company behind a game provider (its vendor): those of the provider's protocol, with the provider's settings; simulated in a
 * sandbox.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { Entropy } from "../../platform/Entropy.ts"
import type { Outbound, VendorFailure, VendorTools } from "../../protocols/Protocol.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { makeProviderSettings, ProtocolColumns } from "./ProviderSettings.ts"
import { VendorHttp } from "./VendorHttp.ts"

const rows = rowsOf(Schema.Struct({ ...ProtocolColumns, isSandbox: Schema.Boolean }))

export interface Vendor {
  readonly protocol: string
  readonly outbound: Outbound
  readonly tools: VendorTools
}

const noVendor = refuse(
  "INVALID_REQUEST",
  "The provider uses Pitboss's own protocol, in which the service makes no calls to it.",
  { reason: "own_protocol" }
)

const unusable = refuse("INVALID_REQUEST", "The provider's settings cannot be used. Set all of them again.", {
  reason: "settings_unusable"
})

/** A vendor that a sandbox's players meet: it can what the real one can, and nobody is called. */
const simulatedOutbound = ({ freeRounds }: Outbound): Outbound => ({
  launch: ({ gameId }) => Effect.succeed(`https://game.invalid/${encodeURIComponent(gameId)}`),
  ...(freeRounds === undefined ? {} : {
    freeRounds: {
      ...freeRounds,
      issue: ({ reference }) => Effect.succeed(`simulated-${reference}`),
      cancel: () => Effect.void
    }
  })
})

/** Refusal for a failed call to a vendor: retryable, or final with the given refusal. */
export const vendorRefusal =
  <Code extends Refusal>(refused: (word: string) => Code) =>
  ({ kind, word }: VendorFailure): Code | Refusal<"TRY_AGAIN"> =>
    kind === "refused"
      ? refused(word)
      : refuse("TRY_AGAIN", "The provider's vendor does not answer right now. Send the same request again.", {
        retry: "same_request",
        vendor: word
      })

export class Vendors extends Context.Service<Vendors, {
  /** The vendor of a provider by its id, as an operator's player needs it; null: as the provider itself does. Of a sandbox it is simulated. */
  readonly find: (
    providerId: number,
    operatorId: number | null
  ) => Effect.Effect<Vendor, Refusal<"INVALID_REQUEST" | "NOT_FOUND" | "TRY_AGAIN">>
}>()("pitboss/integrations/Vendors") {
  static readonly layer = Layer.effect(
    Vendors,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const settings = yield* makeProviderSettings
      const entropy = yield* Entropy
      const clock = yield* Clock.Clock
      const { send } = yield* VendorHttp
      const tools: VendorTools = {
        send,
        uuid: entropy.uuid,
        now: () => clock.currentTimeMillisUnsafe()
      }

      const find = Effect.fn("Vendors.find")(function*(providerId: number, operatorId: number | null) {
        const row = yield* orTryAgain(oneOf(rows(
          sql`SELECT id, protocol, settings, settings_sealed,
              EXISTS (SELECT FROM operators WHERE id = ${operatorId}::float8::bigint AND is_sandbox) AS "isSandbox"
            FROM providers WHERE id = ${providerId}`
        )))
        if (row === undefined) return yield* Effect.fail(refuse("NOT_FOUND", "There is no such provider."))
        const bound = yield* settings.bind(row).pipe(
          Effect.tapError(({ message }) =>
            Effect.annotateLogs(Effect.logError("provider settings cannot be used"), {
              provider_id: providerId,
              reason: message
            })
          ),
          Effect.mapError(() => unusable)
        )
        if (bound === undefined) return yield* Effect.fail(noVendor)
        const outbound = row.isSandbox ? simulatedOutbound(bound.outbound) : bound.outbound
        return { protocol: row.protocol, outbound, tools } satisfies Vendor
      })

      return Vendors.of({ find })
    })
  ).pipe(Layer.provide(Entropy.layer))
}
