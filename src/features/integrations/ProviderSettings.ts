/** Settings of providers with a vendor protocol: the readable part, and the encrypted part with the secrets. */
import { Context, Effect, Schema } from "effect"
import { dividedSettings, type SettingsObject } from "../../office/OutgoingSettings.ts"
import { Secrets, type SecretUnreadable } from "../../platform/Secrets.ts"
import type { AnyProtocol, Bound } from "../../protocols/Protocol.ts"
import { protocols } from "../../protocols/Protocols.ts"

/** The protocol of a provider that calls Pitboss's own API. */
export const ownProtocol = "pitboss"

/** The protocols that a provider may have besides Pitboss's own: those of the list unless a test has others. */
export const ProviderProtocols = Context.Reference<ReadonlyArray<AnyProtocol>>("pitboss/providers/ProviderProtocols", {
  defaultValue: () => protocols
})

/** Columns of `providers` that hold a provider's protocol and its settings. */
export const ProtocolColumns = {
  id: Schema.Number,
  protocol: Schema.String,
  settings: Schema.Record(Schema.String, Schema.Unknown),
  settings_sealed: Schema.NullOr(Schema.Uint8Array)
}

const ProtocolRow = Schema.Struct(ProtocolColumns)

/** A row of {@link ProtocolColumns}. */
export type ProtocolRow = typeof ProtocolRow.Type

/** Purpose of the sealed settings of a provider. */
const settingsPurpose = (providerId: number): string => `provider-settings:${providerId}`

/** The protocol is unknown to this version, or does not take the stored settings any more. */
export class ProtocolUnusable extends Schema.TaggedError<ProtocolUnusable>()("ProtocolUnusable", {
  message: Schema.String
}) {}

const SecretPart = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
const readSecretPart = Schema.decodeUnknownEffect(SecretPart)

/** Opens, seals and binds the settings of providers. */
export const makeProviderSettings = Effect.gen(function*() {
  const secrets = yield* Secrets
  const known = yield* ProviderProtocols

  /** The protocol of a name; undefined for Pitboss's own and for a name that is none. */
  const protocolOf = (name: string): AnyProtocol | undefined => known.find((protocol) => protocol.name === name)

  /** All settings of a provider, the sealed ones opened. */
  const open = Effect.fnUntraced(
    function*(
      { id, settings, settings_sealed: sealed }: ProtocolRow
    ): Effect.fn.Return<SettingsObject, SecretUnreadable> {
      if (sealed === null) return settings
      const purpose = settingsPurpose(id)
      const secret = yield* Effect.orDie(readSecretPart(yield* secrets.openText(purpose, sealed)))
      return { ...settings, ...secret }
    }
  )

  /** The part of the settings that may be shown, and the other one as it is stored; null where there is nothing secret. */
  const divide = (providerId: number, protocol: AnyProtocol, settings: SettingsObject) => {
    const { secret, shown } = dividedSettings(protocol.secrets, settings)
    return {
      settings: shown,
      settings_sealed: Object.keys(secret).length === 0
        ? null
        : secrets.seal(settingsPurpose(providerId), JSON.stringify(secret))
    }
  }

  /** The protocol of a provider, ready to be spoken; undefined for Pitboss's own. */
  const bind = Effect.fnUntraced(
    function*(row: ProtocolRow): Effect.fn.Return<Bound | undefined, SecretUnreadable | ProtocolUnusable> {
      if (row.protocol === ownProtocol) return undefined
      const protocol = protocolOf(row.protocol)
      if (protocol === undefined) {
        return yield* new ProtocolUnusable({ message: `the protocol ${row.protocol} is unknown to this version` })
      }
      return yield* Effect.mapError(
        Effect.fromResult(protocol.bind(yield* open(row))),
        // the error names settings, and would hold their values in some cases
        () => new ProtocolUnusable({ message: `the settings are not those of the protocol ${row.protocol}` })
      )
    }
  )

  return { names: [ownProtocol, ...known.map(({ name }) => name)], protocolOf, open, divide, bind }
})
