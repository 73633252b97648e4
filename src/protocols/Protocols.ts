/** The protocols that providers may have besides Pitboss's own. The only file that names them. */
import type { Protocol } from "./Protocol.ts"

export const protocols: ReadonlyArray<Protocol> = []
