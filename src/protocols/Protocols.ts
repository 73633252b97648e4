/** The protocols that providers may have besides Pitboss's own. The only file that names them. */
import { evolutionProtocol } from "./evolution/Evolution.ts"
import { pragmaticProtocol } from "./pragmatic/Pragmatic.ts"
import type { AnyProtocol } from "./Protocol.ts"

export const protocols: ReadonlyArray<AnyProtocol> = [
  evolutionProtocol,
  pragmaticProtocol
]
