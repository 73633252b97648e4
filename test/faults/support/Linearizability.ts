/**
 * Whether a history of concurrent operations can be put into one order that agrees with time and with the rules: the search of
 * Wing and Gong with the memory of Lowe ("Testing for linearizability", 2017).
 *
 * An operation that ended has its answer and must find a place between its sending and its end. One that never ended may have
 * taken effect at any time after its sending, or not at all.
 */

/** An operation. Moments are places in one order of all sendings and ends; they differ. */
export interface Call<Input, Output> {
  readonly input: Input
  /** Undefined when nobody knows. */
  readonly output: Output | undefined
  readonly sentAt: number
  /** Infinity when it never ended. */
  readonly endedAt: number
}

/** The rules, one operation after the other. */
export interface Rules<State, Input, Output> {
  readonly start: State
  /** The state after an operation that was answered so; undefined when it cannot have been. Without an answer: what it would do. */
  readonly step: (state: State, input: Input, output: Output | undefined) => State | undefined
  /** Equal for equal states only. */
  readonly keyOf: (state: State) => string
}

export type Verdict<C> =
  | { readonly _tag: "Linearizable"; readonly order: ReadonlyArray<C> }
  | {
    readonly _tag: "NotLinearizable"
    /** The longest order that could be found. */
    readonly order: ReadonlyArray<C>
    /** What could have come next and fits nowhere. */
    readonly stuck: ReadonlyArray<C>
  }
  /** The search was given up after too many steps. */
  | { readonly _tag: "Undecided"; readonly steps: number }

/** A sending or an end, in a list from which placed operations are taken out, and into which they are put back. */
interface Mark {
  readonly index: number
  readonly isEnd: boolean
  previous: Mark | undefined
  next: Mark | undefined
}

/** Steps after which a search is given up: far beyond what any history takes that has answers to go by. */
const mostSteps = 300_000

const unlink = (mark: Mark): void => {
  if (mark.previous !== undefined) mark.previous.next = mark.next
  if (mark.next !== undefined) mark.next.previous = mark.previous
}

const relink = (mark: Mark): void => {
  if (mark.previous !== undefined) mark.previous.next = mark
  if (mark.next !== undefined) mark.next.previous = mark
}

/** Puts the operations of one history into an order, if there is one. */
export const check = <State, C extends Call<Input, Output>, Input, Output>(
  rules: Rules<State, Input, Output>,
  history: ReadonlyArray<C & Call<Input, Output>>
): Verdict<C> => {
  const head: Mark = { index: -1, isEnd: false, previous: undefined, next: undefined }
  const begins: Array<Mark> = []
  const ends: Array<Mark> = []
  const marks = history.flatMap(({ endedAt, sentAt }, index) => {
    const begin: Mark = { index, isEnd: false, previous: undefined, next: undefined }
    const end: Mark = { index, isEnd: true, previous: undefined, next: undefined }
    begins.push(begin)
    ends.push(end)
    return [{ at: sentAt, mark: begin }, { at: endedAt, mark: end }]
  }).sort((one, other) =>
    // two that never ended are equally late
    one.at === other.at ? 0 : one.at - other.at
  )
  let last = head
  for (const { mark } of marks) {
    last.next = mark
    mark.previous = last
    last = mark
  }

  const placed = Buffer.alloc(history.length)
  const seen = new Set<string>()
  const path: Array<{ readonly index: number; readonly before: State; readonly isFree: boolean }> = []
  let required = history.filter(({ endedAt }) => endedAt !== Infinity).length
  let state = rules.start
  let longest: ReadonlyArray<number> = []
  let steps = 0

  const callsOf = (indexes: ReadonlyArray<number>): ReadonlyArray<C> =>
    indexes.flatMap((index) => history.slice(index, index + 1))

  /** What may come after these, as far as time goes. */
  const stuckAfter = (order: ReadonlyArray<number>): ReadonlyArray<number> => {
    const taken = new Set(order)
    const left = [...history.entries()].filter(([index]) => !taken.has(index))
    const firstEnd = Math.min(...left.map(([, { endedAt }]) => endedAt))
    return left.flatMap(([index, { sentAt }]) => sentAt < firstEnd ? [index] : [])
  }

  let mark = head.next
  while (required > 0) {
    if (++steps > mostSteps) return { _tag: "Undecided", steps }
    const call = mark === undefined || mark.isEnd ? undefined : history[mark.index]
    if (mark !== undefined && call !== undefined) {
      const { index } = mark
      const next = rules.step(state, call.input, call.output)
      // What changes nothing and may come now can come now: wherever else it has a place, it has one here. What changes nothing and
      // was never answered need not come at all.
      const isFree = next !== undefined && rules.keyOf(next) === rules.keyOf(state)
      placed[index] = 1
      const key = next === undefined ? "" : `${placed.toString("latin1")} ${rules.keyOf(next)}`
      if (next === undefined || (isFree && call.output === undefined) || seen.has(key)) {
        placed[index] = 0
        mark = mark.next
        continue
      }
      seen.add(key)
      path.push({ index, before: state, isFree })
      state = next
      const end = ends[index]
      unlink(mark)
      if (end !== undefined) unlink(end)
      if (call.endedAt !== Infinity) required--
      mark = head.next
      if (path.length > longest.length) longest = path.map((step) => step.index)
      continue
    }
    // an operation that ended has no place: take back the last one that could also come later
    let back = path.pop()
    while (back !== undefined) {
      const [begin, end] = [begins[back.index], ends[back.index]]
      if (end !== undefined) relink(end)
      if (begin !== undefined) relink(begin)
      placed[back.index] = 0
      if (history[back.index]?.endedAt !== Infinity) required++
      state = back.before
      mark = begin?.next
      if (!back.isFree) break
      back = path.pop()
    }
    if (back === undefined) {
      return { _tag: "NotLinearizable", order: callsOf(longest), stuck: callsOf(stuckAfter(longest)) }
    }
  }
  return { _tag: "Linearizable", order: callsOf(path.map(({ index }) => index)) }
}
