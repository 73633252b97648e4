/**
 * What callers were told of a player's balance, in the order of the world.
 *
 * A balance that is shown must have been committed by then. And once somebody has been told of a commit, nobody who asks later may
 * be shown what was before it: that is what makes actor and database look like one. While nobody has been told, a commit whose
 * own answer is still on its way may or may not be seen.
 *
 * A service knows what it committed itself, and what was committed before it was the one that is asked. What another one commits
 * after that, it need not know before it writes (`docs/decisions/0006-engine.md`): a service that was taken out and still ends what
 * it had begun, or a statement of one that has died.
 */
import type { Report } from "../../kit/LedgerInvariants.ts"
import type { Balances, Books, Remains } from "./Books.ts"
import type { Delivery } from "./Network.ts"

interface Shown {
  readonly real: number
  /** Undefined where only the real balance was shown. */
  readonly bonus: number | undefined
}

/** An answer in terms of places in the sequence of a player's balances. */
interface Sighting {
  readonly delivery: Delivery
  readonly endedAt: number
  readonly playerId: number
  /** It is of this place or a later one. */
  readonly first: number
  /** It is of this place or an earlier one. */
  readonly last: number
  readonly shown: Shown | undefined
}

const placesOf = (all: ReadonlyArray<Balances>, shown: Shown, endedAt: number): { first: number; last: number } => {
  const isIt = ({ bonus, real, step }: Balances) =>
    step <= endedAt && real === shown.real && bonus === (shown.bonus ?? bonus)
  return { first: all.findIndex(isIt), last: all.findLastIndex(isIt) }
}

export class Sightings {
  private readonly remains: Remains
  private readonly books: Books
  private readonly report: Report
  private readonly seen: Array<Sighting> = []

  constructor(remains: Remains, books: Books, report: Report) {
    this.remains = remains
    this.books = books
    this.report = report
  }

  /** From when on a service knows of its own commits only. */
  private since(service: string): number {
    // what the nodes of a cluster say together is as one service says it
    if (this.remains.plan.topology === "nodes") return Number.POSITIVE_INFINITY
    return this.remains.cluster.servesSince.get(service) ?? 0
  }

  /** Notes an answer that told of the commit at `step` (-1: of none), and showed a balance or none. */
  see(delivery: Delivery, playerId: number, step: number, shown: Shown | undefined): void {
    const { endedAt, service } = delivery
    const all = this.books.balances.get(playerId)
    if (endedAt === undefined || all === undefined) return
    const since = this.since(service)
    const isKnown = (one: Balances) => one.by === service || one.step < since
    // of a commit of several commands, each is answered with what it left itself
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

  /** Holds every answer against those that had ended before it was asked for. */
  check(): void {
    // where two are asked at once, each is sure of what it writes only
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
