/** Vendors of providers: outgoing calls of a provider's protocol, with that provider's settings. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { Entropy } from "../../platform/Entropy.ts"
import type { Outbound, VendorFailure, VendorTools } from "../../protocols/Protocol.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { makeProviderSettings, ProtocolColumns } from "./ProviderSettings.ts"
import { VendorHttp } from "./VendorHttp.ts"

const rows = rowsOf(Schema.Struct(ProtocolColumns))

export interface Vendor {
  readonly protocol: string
  readonly outbound: Outbound
  readonly tools: VendorTools
}

const noVendor = refuse(
  "INVALID_REQUEST",
  "The provider calls Pitboss's own API: there is no vendor to ask.",
  { reason: "own_protocol" }
)

const unusable = refuse("INVALID_REQUEST", "The provider's settings cannot be used. Give all of them anew.", {
  reason: "settings_unusable"
})

/** A version 4 UUID of 16 random bytes. */
const uuidOf = (bytes: Uint8Array): string => {
  const digits = Buffer.from(bytes)
  digits.writeUInt8((digits.readUInt8(6) & 0x0f) | 0x40, 6)
  digits.writeUInt8((digits.readUInt8(8) & 0x3f) | 0x80, 8)
  return digits.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

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
  /** The vendor of a provider by its id. */
  readonly find: (providerId: number) => Effect.Effect<Vendor, Refusal<"INVALID_REQUEST" | "NOT_FOUND" | "TRY_AGAIN">>
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
        uuid: () => uuidOf(entropy.bytes(16)),
        now: () => clock.currentTimeMillisUnsafe()
      }

      const find = Effect.fn("Vendors.find")(function*(providerId: number) {
        const row = yield* orTryAgain(oneOf(rows(
          sql`SELECT id, protocol, settings, settings_sealed FROM providers WHERE id = ${providerId}`
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
        return { protocol: row.protocol, outbound: bound.outbound, tools } satisfies Vendor
      })

      return Vendors.of({ find })
    })
  ).pipe(Layer.provide(Entropy.layer))
}
