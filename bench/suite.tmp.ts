import { Effect } from "effect"
import { runSuite, short } from "./scenarios/Suite.ts"
await Effect.runPromise(
  runSuite({
    ...short,
    rounds: 2,
    seconds: 0.5,
    warmUpSeconds: 0.2,
    players: 20,
    connections: 16,
    dataset: { players: 1000, entries: 10_000, folder: undefined },
    webhookEvents: 5,
    overloadConnections: 64,
    repetitions: 5,
    reads: true,
    growth: true,
    memory: false
  })
)
