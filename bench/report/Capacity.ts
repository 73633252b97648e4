/** Capacity of a casino by number of nodes, and its limiting resource, computed from measured costs (`docs/scaling.md`). */

/** Costs of a bet. */
export interface Costs {
  /** Processor time of the service, µs. */
  readonly serviceMicros: number
  /** Processor time of both nodes for a bet that is sent on, µs. */
  readonly hopMicros: number
  /** Processor time of PostgreSQL, µs. */
  readonly postgresMicros: number
  /** Write-ahead log, bytes, and the image of a page that comes on top when an index is larger than memory. */
  readonly walBytes: number
  readonly pageImageBytes: number
  /** On the wire, bytes: from and to the caller, to another node and back, to PostgreSQL and back. */
  readonly callerBytes: number
  readonly hopBytes: number
  readonly postgresBytes: number
}

/** Resources of the machines. */
export interface Machines {
  /** Cores of PostgreSQL; a node has one. */
  readonly postgresCores: number
  /** Bytes a second that its disk writes steadily. */
  readonly diskBytes: number
  /** Bytes a second of PostgreSQL's network. */
  readonly networkBytes: number
  /** The part of all of it that is planned for; the rest is for peaks. */
  readonly plannedShare: number
}

/** Measured on this project's machines, or demanded of them where it says so in `docs/scaling.md`. */
export const measuredCosts: Costs = {
  serviceMicros: 88,
  hopMicros: 60,
  postgresMicros: 50,
  walBytes: 1300,
  pageImageBytes: 8192,
  callerBytes: 1300,
  hopBytes: 1100,
  postgresBytes: 1200
}

export const plannedMachines: Machines = {
  postgresCores: 16,
  diskBytes: 350_000_000,
  networkBytes: 1_250_000_000,
  plannedShare: 0.7
}

/** Bets a second that each resource carries by itself. */
export interface Capacity {
  readonly "nodes": number
  readonly "PostgreSQL's processors": number
  readonly "PostgreSQL's disk": number
  readonly "PostgreSQL's network": number
}

/** Bets a second by resource. `any`: callers ask whichever node; `owner`: always the player's. */
export const capacityOf = (
  nodes: number,
  routing: "any" | "owner",
  costs: Costs = measuredCosts,
  { diskBytes, networkBytes, plannedShare, postgresCores }: Machines = plannedMachines
): Capacity => {
  const sentOn = routing === "any" ? (nodes - 1) / nodes : 0
  return {
    "nodes": nodes * plannedShare * 1_000_000 / (costs.serviceMicros + sentOn * costs.hopMicros),
    "PostgreSQL's processors": postgresCores * plannedShare * 1_000_000 / costs.postgresMicros,
    "PostgreSQL's disk": diskBytes * plannedShare / (costs.walBytes + costs.pageImageBytes),
    "PostgreSQL's network": networkBytes * plannedShare / costs.postgresBytes
  }
}

/** The resource that ends first, and how much the casino carries then. */
export const firstToEnd = (capacity: Capacity): readonly [resource: string, perSecond: number] =>
  Object.entries(capacity).reduce<readonly [string, number]>(
    (first, [resource, perSecond]) => perSecond < first[1] ? [resource, perSecond] : first,
    ["none", Number.POSITIVE_INFINITY]
  )
