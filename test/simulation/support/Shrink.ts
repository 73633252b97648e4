/**
 * Minimises a failing plan: removes items while the same invariant still fails. The rest keeps its own
 * random sources, so that its behaviour is unchanged.
 */
import type { Change } from "../../../src/domain/state/Change.ts"
import type { Action, Fault, Plan } from "./Plan.ts"
import type { SeededBug } from "./SeededBug.ts"
import { type Outcome, simulate } from "./Simulation.ts"

export interface Shrunk {
  readonly plan: Plan
  readonly outcome: Outcome
  /** Number of plans tried. */
  readonly runs: number
}

type Item = { readonly action: Action } | { readonly fault: Fault }

const withItems = (plan: Plan, items: ReadonlyArray<Item>): Plan => ({
  ...plan,
  actions: items.flatMap((item) => "action" in item ? [item.action] : []),
  faults: items.flatMap((item) => "fault" in item ? [item.fault] : [])
})

/** Simpler settings, each tried once the list is short. */
const simplifications: ReadonlyArray<(plan: Plan) => Plan> = [
  (plan) => ({ ...plan, pauseEvery: 0 }),
  (plan) => ({ ...plan, network: { drop: 0, duplicate: 0, slow: 0 } }),
  (plan) => ({ ...plan, topology: "one" }),
  (plan) => ({ ...plan, actions: plan.actions.map((action) => ({ ...action, repeats: 0 })) }),
  (plan) => ({
    ...plan,
    service: { maxResident: 1000, maxMailbox: 2048, maxGroup: 256, maxCommit: 1024, idleMinutes: 30 }
  })
]

/** Delta debugging over the list of actions and faults, with at most `mostRuns` tries. The plan must fail. */
export const shrink = (plan: Plan, bug: SeededBug, failing: Outcome, mostRuns: number): Shrunk => {
  const law = failing.violations[0]?.law
  let runs = 0
  let best = { plan, outcome: failing }
  /** Replaces the best plan by one that fails in the same way. */
  const accepts = (candidate: Plan): boolean => {
    if (runs >= mostRuns) return false
    runs++
    const outcome = simulate(candidate, bug)
    if (!outcome.violations.some((violation) => violation.law === law)) return false
    best = { plan: candidate, outcome }
    return true
  }
  /** Items left after removing parts of this size, one after the other, where the plan still fails. */
  const leaveOut = (items: ReadonlyArray<Item>, size: number): ReadonlyArray<Item> => {
    let left = items
    for (let from = 0; from < left.length;) {
      const rest = [...left.slice(0, from), ...left.slice(from + size)]
      if (accepts(withItems(best.plan, rest))) left = rest
      else from += size
    }
    return left
  }
  let items: ReadonlyArray<Item> = [
    ...plan.faults.map((fault) => ({ fault })),
    ...plan.actions.map((action) => ({ action }))
  ]
  for (let size = Math.ceil(items.length / 2); size >= 1;) {
    const left = leaveOut(items, size)
    const isStuck = left.length === items.length
    items = left
    if (size === 1 && isStuck) break
    size = isStuck ? size >> 1 : Math.max(1, Math.min(size, items.length >> 1))
  }
  for (const simplify of simplifications) accepts(simplify(best.plan))
  return { ...best, runs }
}

const clock = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(3).padStart(11)} s`

const short = (value: unknown, most: number): string => {
  const text = JSON.stringify(value) ?? ""
  return text.length <= most ? text : `${text.slice(0, most)}…`
}

/** Short summary of a change. */
const summaryOf = ({ bonuses, payments, settings, transactions }: Change): string =>
  [
    ...transactions.map(({ kind, transactionId }) => `${kind} ${transactionId}`),
    ...payments.map(({ payment }) => `${payment.status} ${payment.type} ${payment.id}`),
    ...bonuses.map(({ bonus }) => `${bonus.state} bonus ${bonus.id}`),
    ...(settings === null ? [] : [`settings ${settings.status} ${settings.exclusion?.type ?? ""}`.trimEnd()])
  ].join(", ")

/** Report of a run: faults and requests in order of time; answers; and violations. */
export const describe = (plan: Plan, outcome: Outcome): string => {
  const { beginning, network, pauseEvery, service, topology } = plan
  const events = [
    ...plan.faults.map((fault) => ({ at: fault.at, line: short(fault, 160) })),
    ...plan.actions.map(({ at, id, playerId, what }) => ({
      at,
      line: `${id} of player ${playerId}: ${short(what, 160)}`
    }))
  ].sort((one, other) => one.at - other.at)
  const answers = outcome.deliveries.map(({ actionId, answer, endedAt, request, sentAt, service: by }) =>
    `  ${String(sentAt).padStart(6)} … ${String(endedAt ?? "never").padEnd(6)} ${by} ${actionId} ${request.kind} → ${
      answer === undefined ? "no answer" : short(answer, 200)
    }`
  )
  const commits = outcome.history.map(({ by, changes, isFence, playerId, state, step, version }) =>
    `  ${String(step).padStart(6)} ${by} player ${playerId} version ${version}: ${state.real}/${state.bonus} ${
      isFence ? "(fenced)" : changes.map(summaryOf).join("; ")
    }`
  )
  return [
    `seed ${plan.seed}, ${new Date(beginning).toISOString()}, topology ${topology}, a pause every ${pauseEvery}`,
    `  network ${short(network, 200)}, service ${short(service, 200)}`,
    "what happens:",
    ...events.map(({ at, line }) => `${clock(at)}  ${line}`),
    "what the service made of it (steps, machine, action):",
    ...answers,
    "what was committed (step, machine):",
    ...commits,
    "what is wrong:",
    ...outcome.violations.slice(0, 20).map(({ law, text }) => `  ${law}: ${text}`),
    `trace ${outcome.hash}`
  ].join("\n")
}
