/** The protocols that the provider simulator speaks. */
import { Effect, Schema } from "effect"
import type { Dialect, DialectDefinition } from "./Dialect.ts"
import { a8rDialect } from "./dialects/A8r.ts"
import { evolutionDialect } from "./dialects/Evolution.ts"
import { gcpDialect } from "./dialects/Gcp.ts"
import { pitbossDialect } from "./dialects/Pitboss.ts"
import { pragmaticDialect } from "./dialects/Pragmatic.ts"
import { slotegratorDialect } from "./dialects/Slotegrator.ts"
import { hub88Dialect } from "./dialects/Hub88.ts"
import { spribeDialect } from "./dialects/Spribe.ts"
import { SimulatorError } from "./SimulatorError.ts"

type Make = (settings: unknown) => Effect.Effect<Dialect, SimulatorError>

const making = <Settings>({ make, settings }: DialectDefinition<Settings>): Make => {
  const decode: (given: unknown) => Effect.Effect<Settings, Schema.SchemaError> = Schema.decodeUnknownEffect(settings)
  return (given) =>
    Effect.map(
      Effect.mapError(decode(given), ({ message }) => new SimulatorError({ message: `the settings: ${message}` })),
      make
    )
}

const dialects: { readonly [protocol: string]: Make } = {
  pitboss: making(pitbossDialect),
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
export const makeDialect = (protocol: string, settings: unknown): Effect.Effect<Dialect, SimulatorError> =>
  dialects[protocol]?.(settings) ??
    Effect.fail(new SimulatorError({ message: `${protocol} is none of ${protocolNames.join(", ")}` }))
