/** Looks up providers with a vendor protocol by their slug, each protocol bound to the provider's settings. */
import { Context, Effect, Layer, Schema } from "effect"
import { Notices } from "../../cluster/Notices.ts"
import { type Networks, networks } from "../../auth/Addresses.ts"
import { makeKeyDirectory } from "../../auth/KeyDirectory.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import type { SettlementPolicy } from "../../domain/settlement/Settlement.ts"
import { ServingClient } from "../../platform/Database.ts"
import { makeLogThrottle } from "../../platform/LogThrottle.ts"
import type { Bound, RefuseUnread } from "../../protocols/Protocol.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { makeProviderSettings, ownProtocol, ProtocolColumns } from "./ProviderSettings.ts"

/** A provider as its vendor reaches it. */
export interface Integration {
  readonly providerId: number
  readonly slug: string
  /** Empty allows any address. */
  readonly allowed: Networks
  readonly policy: SettlementPolicy
  readonly bound: Bound
}

const Row = Schema.Struct({
  ...ProtocolColumns,
  /** The slug. */
  key: Schema.String,
  ip_allowlist: Schema.Array(Schema.String)
})

const rows = rowsOf(Row)
const versions = rowsOf(Schema.Struct({ version: Schema.String }))

const unusable = refuse(
  "TRY_AGAIN",
  "The stored settings of the provider cannot be read. Staff have to enter them again; then send the same request again."
)

export class Integrations extends Context.Service<Integrations, {
  /** Undefined when there is none, and where it has to be looked up by `find`. `now` in epoch milliseconds. */
  readonly peek: (slug: string, now: number) => Integration | undefined
  /** Writer of refusals in the protocol of a slug as last read, also where the provider cannot be looked up now. Undefined when there was none. */
  readonly refuserOf: (slug: string) => RefuseUnread | undefined
  /** Undefined when no provider of this slug has a protocol of its own. */
  readonly find: (slug: string) => Effect.Effect<Integration | undefined, Refusal<"TRY_AGAIN">>
  /** Forgets one: to be called after every committed change of it. */
  readonly invalidate: (slug: string) => Effect.Effect<void>
}>()("pitboss/integrations/Integrations") {
  static readonly layer = Layer.effect(
    Integrations,
    Effect.gen(function*() {
      const sql = yield* ServingClient
      const settings = yield* makeProviderSettings
      const throttle = yield* makeLogThrottle(5000)
      const directory = yield* makeKeyDirectory<typeof Row.Type, Integration>({
        version: orTryAgain(Effect.map(
          oneOf(versions(sql`SELECT md5(coalesce(string_agg(id || ' ' || xmin, ',' ORDER BY id), '')) AS version
            FROM providers WHERE protocol <> ${ownProtocol}`)),
          (row) => row?.version ?? ""
        )),
        rows: orTryAgain(rows(sql`SELECT slug AS key, id, protocol, settings, settings_sealed, ip_allowlist
          FROM providers WHERE protocol <> ${ownProtocol}`)),
        open: (row) =>
          settings.bind(row).pipe(
            Effect.flatMap((bound) => {
              const protocol = settings.protocolOf(row.protocol)
              return bound === undefined || protocol === undefined
                ? Effect.fail(unusable)
                : Effect.succeed<Integration>({
                  providerId: row.id,
                  slug: row.key,
                  allowed: networks(row.ip_allowlist),
                  policy: bound.policy ?? protocol.policy,
                  bound
                })
            }),
            Effect.catch(() =>
              Effect.andThen(
                throttle((others) =>
                  Effect.annotateLogs(Effect.logError("provider settings cannot be used"), {
                    provider_id: row.id,
                    others,
                    remedy: "set the provider's settings again"
                  })
                ),
                Effect.fail(unusable)
              )
            )
          )
      })
      const notices = yield* Notices
      return Integrations.of({
        peek: directory.peek,
        refuserOf: (slug) => settings.protocolOf(directory.lastRead(slug)?.protocol ?? "")?.refuse,
        find: directory.get,
        invalidate: notices.define("integration", (slug) => Effect.sync(() => directory.invalidate(slug)))
      })
    })
  )
}
