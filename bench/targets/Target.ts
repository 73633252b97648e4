import type { Effect } from "effect"
import type { BenchError } from "../BenchError.ts"
import type { JobPlayer, JobVendor } from "../load/Job.ts"

/** `baseline` and `one-statement` are the same server in two ways of working; see Baseline.ts. */
const targetNames = ["pitboss", "baseline", "one-statement", "ceiling"] as const
export type TargetName = (typeof targetNames)[number]

/** Provisioning of every target. */
export interface Provisioning {
  /** Players with money and an open wallet session. */
  readonly players: number
  /** Players in all; those above {@link players} are registered and never come. Default: no others. */
  readonly registered?: number
  readonly currency: string
  /** Real balance each player starts with, minor units. */
  readonly openingBalance: number
  /** Profiles of the players in turn, at a sandbox operator, whose registers are simulated. Default: no jurisdiction, at a live one. */
  readonly jurisdictions?: ReadonlyArray<string>
}

/** How many commits there were, and how many units they held. */
export interface CommitCounts {
  readonly commits: number
  readonly units: number
}

/** What a request may have to wait for in the service. */
export type WaitName = "commit before" | "commit" | "scavenge" | "mark-compact"

/** Number of waits up to a time, seconds, in rising order; the last time is infinite. */
export type Waits = ReadonlyArray<readonly [seconds: number, count: number]>

/** What a service tells of its work so far. */
export interface Work extends CommitCounts {
  readonly waits: ReadonlyMap<WaitName, Waits>
}

/** A running server under test, with players that have money and open wallet sessions. */
export interface Target {
  readonly name: string
  /** Its own on the common server; undefined when it stores nothing. */
  readonly database: string | undefined
  /** Of the process that serves now: it may be another one after a restart. */
  readonly pid: () => number
  readonly host: string
  readonly port: number
  /** Where there are several nodes; `owners` names for each player the one that owns it, when its requests go there. */
  readonly nodes?: {
    readonly ports: ReadonlyArray<number>
    readonly pids: ReadonlyArray<number>
    readonly owners: ReadonlyArray<number> | null
  }
  readonly provider: { readonly key: string; readonly secret: string }
  /** Key that records deposits; undefined for targets that only serve bets. */
  readonly operator?: { readonly key: string; readonly secret: string }
  /** The vendor that bets in its own protocol; undefined for Pitboss's own. */
  readonly vendor?: JobVendor
  /** The provider's own id of the game that bets are on. */
  readonly gameId: string
  /** The service's own id of it. */
  readonly slotId?: string
  /** The id of a game of the platform's own. */
  readonly originalId?: string
  /** In the order of {@link balances}. */
  readonly players: ReadonlyArray<JobPlayer>
  /** From this index on players may not stake more than `stakeLimit` at once. */
  readonly limitedFrom?: number
  readonly openingBalances: ReadonlyArray<number>
  /** Real balances of the first `count` players as the target states them; undefined when it stores nothing. */
  readonly balances: ((count: number) => Effect.Effect<ReadonlyArray<number>, BenchError>) | undefined
  /** Commits and waits so far, undefined when the target does not count them. */
  readonly work: Effect.Effect<Work | undefined>
  /** Further invariants after all rounds; returns the violations, one line each. */
  readonly audit: Effect.Effect<ReadonlyArray<string>, BenchError>
}
