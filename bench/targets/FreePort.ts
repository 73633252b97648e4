import { Effect } from "effect"
import * as PostgresProcess from "../../src/platform/PostgresProcess.ts"
import { BenchError } from "../BenchError.ts"

/** A TCP port that was free a moment ago. */
export const freePort = Effect.mapError(PostgresProcess.freePort, ({ message }) => new BenchError({ message }))
