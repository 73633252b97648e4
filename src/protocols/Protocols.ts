/** Registry of the vendor protocols, which are all but Pitboss's own. No other file lists them. */
import { a8rProtocol } from "./a8r/A8r.ts"
import { evolutionProtocol } from "./evolution/Evolution.ts"
import { gcpProtocol } from "./gcp/Gcp.ts"
import { hub88Protocol } from "./hub88/Hub88.ts"
import { pragmaticProtocol } from "./pragmatic/Pragmatic.ts"
import type { AnyProtocol } from "./Protocol.ts"
import { slotegratorProtocol } from "./slotegrator/Slotegrator.ts"
import { spribeProtocol } from "./spribe/Spribe.ts"

export const protocols: ReadonlyArray<AnyProtocol> = [
  hub88Protocol,
  pragmaticProtocol,
  slotegratorProtocol,
  a8rProtocol,
  gcpProtocol,
  evolutionProtocol,
  spribeProtocol
]
