/** The protocols that the vendor in a box speaks. */
import { Effect, Schema } from "effect"
import type { Dialect, DialectDefinition } from "./Dialect.ts"
import { a8rDialect } from "./dialects/A8r.ts"
import { evolutionDialect } from "./dialects/Evolution.ts"
import { gcpDialect } from "./dialects/Gcp.ts"
import { pragmaticDialect } from "./dialects/Pragmatic.ts"
import { slotegratorDialect } from "./dialects/Slotegrator.ts"
import { hub88Dialect } from "./dialects/Hub88.ts"
import { spribeDialect } from "./dialects/Spribe.ts"
import { VendorError } from "./VendorError.ts"

type Make = (settings: unknown) => Effect.Effect<Dialect, VendorError>

const making = <Settings>({ make, settings }: DialectDefinition<Settings>): Make => {
  const decode: (given: unknown) => Effect.Effect<Settings, Schema.SchemaError> = Schema.decodeUnknownEffect(settings)
  return (given) =>
    Effect.map(
      Effect.mapError(decode(given), ({ message }) => new VendorError({ message: `the settings: ${message}` })),
      make
    )
}

const dialects: { readonly [protocol: string]: Make } = {
  hub88: making(hub88Dialect),
  pragmatic: making(pragmaticDialect),
  slotegrator: making(slotegratorDialect),
  a8r: making(a8rDialect),
  gcp: making(gcpDialect),
  evolution: making(evolutionDialect),
  spribe: making(spribeDialect)
}

export const protocolNames = Object.keys(dialects)

/** The dialect of a protocol with the settings of a provider. */
export const makeDialect = (protocol: string, settings: unknown): Effect.Effect<Dialect, VendorError> =>
  dialects[protocol]?.(settings) ??
    Effect.fail(new VendorError({ message: `${protocol} is none of ${protocolNames.join(", ")}` }))
