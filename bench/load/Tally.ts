import type { Histogram } from "hdr-histogram-js"
import type { Job, JobResult } from "./Job.ts"
import { encodeHistogram, makeHistogram, micros } from "./Latency.ts"
import type { Request } from "./Requests.ts"

interface PhaseTally {
  /** When it ends, ms. */
  readonly to: number
  readonly latency: Histogram
  readonly served: Histogram
  readonly errors: Map<string, number>
  processed: number
}

/**
 * Keeps count of a job. Figures are of the measured seconds: throughput by the time of the answer, latency of the closed loop as
 * well, that of the open loop by the time at which the request was due. Money is of the whole job, for the comparison with the
 * balances.
 */
export class Tally {
  readonly #job: Job
  readonly #latency = makeHistogram()
  readonly #operations = new Map<string, Histogram>()
  readonly #errors = new Map<string, number>()
  readonly #moved: Float64Array
  readonly #least: Float64Array
  readonly #most: Float64Array
  readonly #slots: {
    readonly processed: Float64Array
    readonly failed: Float64Array
    readonly sum: Float64Array
    readonly max: Float64Array
  }
  #phases: ReadonlyArray<PhaseTally> = []
  #from = 0
  #to = 0
  #processed = 0
  processedEver = 0
  failedEver = 0

  constructor(job: Job) {
    this.#job = job
    const slots = Math.ceil(job.measuredSeconds * 1000 / job.slotMs)
    this.#slots = {
      processed: new Float64Array(slots),
      failed: new Float64Array(slots),
      sum: new Float64Array(slots),
      max: new Float64Array(slots)
    }
    this.#moved = new Float64Array(job.players.length)
    this.#least = new Float64Array(job.players.length)
    this.#most = new Float64Array(job.players.length)
  }

  begin(now: number): void {
    const { measuredSeconds, phases, warmUpSeconds } = this.#job
    this.#from = now + warmUpSeconds * 1000
    this.#to = this.#from + measuredSeconds * 1000
    let end = now
    const ends = phases === null ? [this.#to] : phases.map(({ seconds }) => (end += seconds * 1000))
    this.#phases = ends.map((to) => ({
      to,
      latency: makeHistogram(),
      served: makeHistogram(),
      errors: new Map(),
      processed: 0
    }))
  }

  /** Whether requests due at this time are measured. */
  isMeasured(intendedAt: number): boolean {
    return intendedAt >= this.#from
  }

  processed(request: Request, change: number, now: number, intendedAt: number, sentAt: number): void {
    this.processedEver += 1
    add(this.#moved, request.player, change)
    const latency = micros(now - intendedAt)
    const slot = this.#slot(now)
    if (slot !== undefined) {
      this.#processed += 1
      add(this.#slots.processed, slot, 1)
      add(this.#slots.sum, slot, latency)
      this.#slots.max[slot] = Math.max(this.#slots.max[slot] ?? 0, latency)
    }
    const at = this.#job.phases === null ? now : intendedAt
    if (!(at >= this.#from && at < this.#to)) return
    this.#latency.recordValue(latency)
    const operation = this.#operations.get(request.operation)
    if (operation === undefined) {
      const made = makeHistogram()
      made.recordValue(latency)
      this.#operations.set(request.operation, made)
    } else operation.recordValue(latency)
    const phase = this.#phaseOf(at)
    if (phase !== undefined) {
      phase.processed += 1
      phase.latency.recordValue(latency)
      phase.served.recordValue(micros(now - sentAt))
    }
  }

  failed(code: string, now: number, intendedAt: number): void {
    this.failedEver += 1
    count(this.#errors, code)
    const slot = this.#slot(now)
    if (slot !== undefined) add(this.#slots.failed, slot, 1)
    const at = this.#job.phases === null ? now : intendedAt
    const phase = this.isMeasured(at) ? this.#phaseOf(at) : undefined
    if (phase !== undefined) count(phase.errors, code)
  }

  /** Records the waiting time of a request that was given up. */
  waited(now: number, intendedAt: number): void {
    if (this.isMeasured(intendedAt)) this.#latency.recordValue(micros(now - intendedAt))
  }

  /** The request may have been done or not. */
  unknown(request: Request): void {
    add(this.#least, request.player, request.least)
    add(this.#most, request.player, request.most)
  }

  #slot(now: number): number | undefined {
    return now >= this.#from && now < this.#to ? Math.floor((now - this.#from) / this.#job.slotMs) : undefined
  }

  #phaseOf(at: number): PhaseTally | undefined {
    return this.#phases.find(({ to }) => at < to)
  }

  result(sendDelay: Histogram): JobResult {
    return {
      processed: this.#processed,
      errors: Object.fromEntries(this.#errors),
      latency: encodeHistogram(this.#latency),
      operations: Object.fromEntries(
        [...this.#operations].map(([name, histogram]) => [name, encodeHistogram(histogram)])
      ),
      phases: this.#phases.map(({ errors, latency, processed, served }) => ({
        processed,
        latency: encodeHistogram(latency),
        served: encodeHistogram(served),
        errors: Object.fromEntries(errors)
      })),
      sendDelay: encodeHistogram(sendDelay),
      timeline: {
        slot_ms: this.#job.slotMs,
        processed: [...this.#slots.processed],
        failed: [...this.#slots.failed],
        latency_sum: [...this.#slots.sum],
        latency_max: [...this.#slots.max]
      },
      moved: [...this.#moved],
      leastUnknown: [...this.#least],
      mostUnknown: [...this.#most]
    }
  }
}

const add = (sums: Float64Array, index: number, value: number): void => {
  sums[index] = (sums[index] ?? 0) + value
}

const count = (counts: Map<string, number>, code: string): void => {
  counts.set(code, (counts.get(code) ?? 0) + 1)
}
