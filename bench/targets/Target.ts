import type { Effect } from "effect"
import type { BenchError } from "../BenchError.ts"

export const targetNames = ["pitboss", "baseline", "ceiling"] as const
export type TargetName = (typeof targetNames)[number]

/** What every target is provisioned with. */
export interface Provisioning {
  readonly players: number
  readonly currency: string
  /** Real balance each player starts with, minor units. */
  readonly openingBalance: number
}

/** How many commits there were, and how many units they held. */
export interface CommitCounts {
  readonly commits: number
  readonly units: number
}

/** A running server under test, with players that have money and open wallet sessions. */
export interface Target {
  readonly name: TargetName
  readonly pid: number
  readonly host: string
  readonly port: number
  readonly providerKey: string
  readonly secret: string
  readonly gameId: string
  /** One per player, in the order of {@link balances}. */
  readonly sessionTokens: ReadonlyArray<string>
  /** Real balances of the first `count` players as the target states them; undefined when it stores nothing. */
  readonly balances: ((count: number) => Effect.Effect<ReadonlyArray<number>, BenchError>) | undefined
  /** Commits so far, undefined when the target does not count them. */
  readonly commits: Effect.Effect<CommitCounts | undefined>
  /** What else must hold when all rounds are over; returns what is wrong, one line each. */
  readonly audit: Effect.Effect<ReadonlyArray<string>, BenchError>
}
