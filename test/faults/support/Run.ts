/** Runs cycles one after the other, until they are done or one of them finds a violation. */
import { Cause, Effect, Exit } from "effect"
import { type Chance, chanceOf } from "../../kit/Chance.ts"
import { type CycleOutcome, runCycle } from "./Cycle.ts"
import { type FaultKind } from "./Faults.ts"
import { whyNoSmallDisk } from "./SmallDisk.ts"
import { makeRunFolder, withWorld } from "./World.ts"

export interface RunPlan {
  readonly seed: number
  readonly cycles: number
  readonly kinds: ReadonlyArray<FaultKind>
  readonly isShort: boolean
  /** Keeps the folder with journal and logs even without a finding. */
  readonly keepsFolder: boolean
  readonly onCycle: (outcome: CycleOutcome) => void
}

export interface RunOutcome {
  readonly seed: number
  readonly cycles: ReadonlyArray<CycleOutcome>
  /** Kinds that are impossible on this machine, and why. */
  readonly leftOut: ReadonlyArray<{ readonly kind: FaultKind; readonly reason: string }>
  /** Folder of the journal, when kept. */
  readonly folder: string | undefined
  /** Finding of the failed cycle, and where to read on. */
  readonly failure:
    | {
      readonly cycle: number
      readonly kind: FaultKind | undefined
      readonly violations: ReadonlyArray<string>
      readonly concerned: ReadonlyArray<string>
      /** The last lines of PostgreSQL's log. */
      readonly databaseLines: ReadonlyArray<string>
    }
    | undefined
}

/** Each kind in turn, each turn in another order. */
const kindsOf = (kinds: ReadonlyArray<FaultKind>, cycles: number, chance: Chance): ReadonlyArray<FaultKind> => {
  const all: Array<FaultKind> = []
  while (kinds.length > 0 && all.length < cycles) {
    const left = [...kinds]
    while (left.length > 0) all.push(...left.splice(chance.below(left.length), 1))
  }
  return all.slice(0, cycles)
}

/** Runs the cycles of a plan. Faults that need a disk that can be filled use a world of their own, and come last. */
export const run = (plan: RunPlan) =>
  Effect.scoped(Effect.gen(function*() {
    const folder = yield* makeRunFolder
    const reason = plan.kinds.includes("full-disk") ? whyNoSmallDisk() : undefined
    const leftOut = reason === undefined ? [] : [{ kind: "full-disk" as const, reason }]
    const kinds = plan.kinds.filter((kind) => leftOut.every((each) => each.kind !== kind))
    const order = kindsOf(kinds, plan.cycles, chanceOf(plan.seed))
    const numbered = order.map((kind, index) => ({ kind, number: index + 1 }))
    const outcomes: Array<CycleOutcome> = []
    let failure: RunOutcome["failure"]

    for (const isDisk of [false, true]) {
      const own = numbered.filter(({ kind }) => (kind === "full-disk") === isDisk)
      if (own.length === 0 || failure !== undefined) continue
      let current = own[0]
      const exit = yield* Effect.exit(withWorld(folder, isDisk, (world) =>
        Effect.gen(function*() {
          for (const each of own) {
            current = each
            const { outcome } = yield* runCycle(world, { seed: plan.seed, isShort: plan.isShort, ...each })
            outcomes.push(outcome)
            plan.onCycle(outcome)
            if (outcome.violations.length === 0) continue
            const { violations, concerned, kind, number } = outcome
            failure = { cycle: number, kind, violations, concerned, databaseLines: folder.databaseLines() }
            return
          }
        })))
      if (Exit.isFailure(exit)) {
        const violations = [Cause.pretty(exit.cause)]
        const { kind, number: cycle = 0 } = current ?? {}
        failure = { cycle, kind, violations, concerned: [], databaseLines: folder.databaseLines() }
      }
    }
    const isKept = failure !== undefined || plan.keepsFolder
    if (isKept) folder.keep()
    return {
      seed: plan.seed,
      cycles: outcomes,
      leftOut,
      folder: isKept ? folder.path : undefined,
      failure
    } satisfies RunOutcome
  }))
