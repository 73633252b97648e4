import type { Phase } from "./Job.ts"

/** When requests of an open loop fall due: in phases, at a steady rate in each, on whole milliseconds. */
export class Arrivals {
  readonly #phases: ReadonlyArray<Phase>
  #phase = 0
  #phaseBegin = 0
  /** Requests of the current phase that were taken. */
  #taken = 0

  constructor(phases: ReadonlyArray<Phase>) {
    this.#phases = phases
  }

  /** The first phase begins now. All times are of `performance.now()`. */
  begin(now: number): void {
    this.#phaseBegin = now
  }

  /** When the next request was due; undefined when it is not yet, or when there is none any more. */
  due(now: number): number | undefined {
    for (let phase = this.#phases[this.#phase]; phase !== undefined; phase = this.#phases[this.#phase]) {
      const offset = this.#taken * 1000 / phase.perSecond
      if (offset < phase.seconds * 1000) {
        const dueAt = this.#phaseBegin + Math.floor(offset)
        return dueAt <= now ? dueAt : undefined
      }
      this.#phase += 1
      this.#phaseBegin += phase.seconds * 1000
      this.#taken = 0
    }
    return undefined
  }

  /** Removes the request reported by {@link due}, sent or given up. */
  take(): void {
    this.#taken += 1
  }
}
