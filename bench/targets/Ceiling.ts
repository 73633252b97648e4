import { Effect, Schema, type Scope } from "effect"
import { fileURLToPath } from "node:url"
import type { BenchError } from "../BenchError.ts"
import { startChild } from "./Child.ts"
import { nodeFlags, project } from "./NodeFlags.ts"
import type { Provisioning, Target } from "./Target.ts"

/** First message of the servers in `servers/`. */
export const Listening = Schema.Struct({ type: Schema.Literal("listening"), port: Schema.Int })

/** Starts the bare `node:http` server that parses, verifies and answers, and stores nothing. */
export const startCeiling = (provisioning: Provisioning): Effect.Effect<Target, BenchError, Scope.Scope> =>
  Effect.gen(function*() {
    const providerKey = "bench-provider"
    const secret = "ceiling-provider-secret-of-the-bench"
    const child = yield* startChild({
      name: "ceiling",
      args: [...yield* nodeFlags(project), fileURLToPath(import.meta.resolve("./servers/ceiling.ts"))],
      environment: { PROVIDER_KEY: providerKey, PROVIDER_SECRET: secret },
      messages: true
    })
    const { port } = yield* child.receive(Listening)
    return {
      name: "ceiling",
      database: undefined,
      pid: () => child.pid,
      host: "127.0.0.1",
      port,
      provider: { key: providerKey, secret },
      gameId: "bench-slot",
      // As long as real ones, since the length of a request is part of its cost.
      players: Array.from({ length: provisioning.players }, (_, index) => ({
        id: index + 1,
        sessionToken: String(index).padStart(64, "0"),
        playerRef: String(index).padStart(35, "0")
      })),
      openingBalances: [],
      balances: undefined,
      work: Effect.undefined,
      audit: Effect.succeed([])
    }
  })
