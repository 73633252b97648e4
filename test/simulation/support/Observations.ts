/**
 * Balances shown to callers, in the order of the world.
 *
 * A shown balance must have been committed by then. Once a caller has seen a commit, no later request may
 * see the state before it: this makes actor and database linearizable. Before that, a commit whose
 * own answer is in transit may or may not be seen.
 *
 * A service knows its own commits, and those before it began to receive requests. Commits of another one
 * after that are unknown to it until it writes (`docs/decisions/0006-engine.md`): as in a replaced service that still finishes
 * its work, or a statement of a dead one.
 */
import type { Report } from "../../kit/LedgerInvariants.ts"
import type { Balances, Books, Remains } from "./Books.ts"
import type { Delivery } from "./Network.ts"

interface Shown {
  readonly real: number
  /** Undefined when only the real balance was shown. */
  readonly bonus: number | undefined
}

/** An answer as positions in the sequence of a player's balances. */
interface Observation {
  readonly delivery: Delivery
  readonly endedAt: number
  readonly playerId: number
  /** Earliest possible position. */
  readonly first: number
  /** Latest possible position. */
  readonly last: number
  readonly shown: Shown | undefined
}

const placesOf = (all: ReadonlyArray<Balances>, shown: Shown, endedAt: number): { first: number; last: number } => {
  const isIt = ({ bonus, real, step }: Balances) =>
    step <= endedAt && real === shown.real && bonus === (shown.bonus ?? bonus)
  return { first: all.findIndex(isIt), last: all.findLastIndex(isIt) }
}

export class Observations {
  private readonly remains: Remains
  private readonly books: Books
  private readonly report: Report
  private readonly seen: Array<Observation> = []

  constructor(remains: Remains, books: Books, report: Report) {
    this.remains = remains
    this.books = books
    this.report = report
  }

  /** Step from which a service knows only its own commits. */
  private since(service: string): number {
    // answers of cluster nodes together must be as one service's
    if (this.remains.plan.topology === "nodes") return Number.POSITIVE_INFINITY
    return this.remains.cluster.servesSince.get(service) ?? 0
  }

  /** Records an answer that confirmed the commit at `step` (-1: none), and showed a balance or none. */
  see(delivery: Delivery, playerId: number, step: number, shown: Shown | undefined): void {
    const { endedAt, service } = delivery
    const all = this.books.balances.get(playerId)
    if (endedAt === undefined || all === undefined) return
    const since = this.since(service)
    const isKnown = (one: Balances) => one.by === service || one.step < since
    // commands grouped in one commit are each answered with their own intermediate state
    const own = all.findIndex((one) => one.step === step && isKnown(one))
    const told = own >= 0 ? own : Math.max(0, all.findLastIndex((one) => one.step < step && isKnown(one)))
    const places = shown === undefined ? { first: told, last: all.length } : placesOf(all, shown, endedAt)
    if (shown !== undefined && places.first < 0) {
      this.report("a balance shown is one committed", `${nameOf(delivery, playerId, shown)}, which never was by then`)
      return
    }
    if (places.last < told) {
      this.report("no answer is out of date", `${nameOf(delivery, playerId, shown)}, from before what it tells of`)
    }
    const { last } = places
    this.seen.push({ delivery, endedAt, playerId, first: Math.max(places.first, told), last, shown })
  }

  /** Checks every answer against those that had ended before its request. */
  check(): void {
    // with two services at once, each is sure only of its own writes
    if (this.remains.plan.topology === "both") return
    for (const own of Map.groupBy(this.seen, ({ playerId }) => playerId).values()) {
      const byEnd = [...own].sort((one, other) => one.endedAt - other.endedAt)
      for (const { delivery, last, playerId, shown } of own) {
        const { sentAt, service } = delivery
        const since = this.since(service)
        let told = 0
        for (const before of byEnd) {
          if (before.endedAt >= sentAt) break
          if (before.delivery.service === service || before.endedAt < since) told = Math.max(told, before.first)
        }
        if (last >= told) continue
        const newer = this.books.balances.get(playerId)?.[told]
        this.report(
          "no answer is out of date",
          `${nameOf(delivery, playerId, shown)}; told before: ${newer?.real}/${newer?.bonus}`
        )
      }
    }
  }
}

const nameOf = ({ actionId, request, service }: Delivery, playerId: number, shown: Shown | undefined): string =>
  `${request.kind} of ${actionId} on ${service}: player ${playerId} has ${shown?.real}/${shown?.bonus}`
