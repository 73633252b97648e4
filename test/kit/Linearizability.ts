/**
 * Checks whether a history of concurrent operations has an order consistent with time and with the rules: the search of
 * Wing and Gong with the memory of Lowe ("Testing for linearizability", 2017).
 *
 * An operation that ended has its answer and must find a place between its sending and its end. One that never ended may have
 * taken effect at any time after its sending, or not at all.
 */

/** An operation. Moments are places in one order of all sendings and ends; they differ. */
export interface Call<Input, Output> {
  readonly input: Input
  /** Undefined when unknown. */
  readonly output: Output | undefined
  readonly sentAt: number
  /** Infinity when it never ended. */
  readonly endedAt: number
}

/** The rules, one operation after the other. */
export interface Rules<State, Input, Output> {
  readonly start: State
  /** State after an operation with this answer; undefined when the answer is impossible. Without an answer: state after its effect. */
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
    /** Candidates for the next operation that fit nowhere. */
    readonly stuck: ReadonlyArray<C>
  }
  /** The search was given up after too many steps. */
  | { readonly _tag: "Undecided"; readonly steps: number }

/** A sending or an end, in a list from which placed operations are taken out, and into which they are put back. */
interface Mark {
  readonly index: number
  readonly isEnd: boolean
  readonly at: number
  previous: Mark | undefined
  next: Mark | undefined
}

/** Orders that begin alike are looked at once. So many beginnings are far more than any history needs that has answers to go by. */
const mostBeginnings = 300_000

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
  const head: Mark = { index: -1, isEnd: false, at: -Infinity, previous: undefined, next: undefined }
  const begins = new Map<number, Mark>()
  const ends = new Map<number, Mark>()
  /** Operations without an end, tried last; ordered by sending. */
  const open: Array<{ readonly index: number; readonly sentAt: number }> = []
  for (const [index, { endedAt, sentAt }] of history.entries()) {
    if (endedAt === Infinity) {
      open.push({ index, sentAt })
      continue
    }
    begins.set(index, { index, isEnd: false, at: sentAt, previous: undefined, next: undefined })
    ends.set(index, { index, isEnd: true, at: endedAt, previous: undefined, next: undefined })
  }
  open.sort((one, other) => one.sentAt - other.sentAt)
  let last = head
  for (const mark of [...begins.values(), ...ends.values()].sort((one, other) => one.at - other.at)) {
    last.next = mark
    mark.previous = last
    last = mark
  }

  const placed = Buffer.alloc(history.length)
  const seen = new Set<string>()
  /** `turn`: index in `open`; undefined for an ended operation. */
  const path: Array<
    { readonly index: number; readonly before: State; readonly isFree: boolean; readonly turn: number | undefined }
  > = []
  let required = begins.size
  let state = rules.start
  let longest: ReadonlyArray<number> = []

  const callsOf = (indexes: ReadonlyArray<number>): ReadonlyArray<C> =>
    indexes.flatMap((index) => history.slice(index, index + 1))

  /** Operations that may follow these by time. */
  const stuckAfter = (order: ReadonlyArray<number>): ReadonlyArray<number> => {
    const taken = new Set(order)
    const left = [...history.entries()].filter(([index]) => !taken.has(index))
    const firstEnd = Math.min(...left.map(([, { endedAt }]) => endedAt))
    return left.flatMap(([index, { sentAt }]) => sentAt < firstEnd ? [index] : [])
  }

  /** Places an operation, unless it does not fit or leads where the search has been. */
  const place = (index: number, turn: number | undefined): boolean => {
    const call = history[index]
    if (call === undefined || placed[index] === 1) return false
    const next = rules.step(state, call.input, call.output)
    if (next === undefined) return false
    const keyAfter = rules.keyOf(next)
    // What changes nothing and may come now can come now: wherever else it has a place, it has one here. What changes nothing and
    // was never answered need not come at all.
    const isFree = keyAfter === rules.keyOf(state)
    if (isFree && turn !== undefined) return false
    placed[index] = 1
    const key = `${placed.toString("latin1")} ${keyAfter}`
    if (seen.has(key)) {
      placed[index] = 0
      return false
    }
    seen.add(key)
    path.push({ index, before: state, isFree, turn })
    state = next
    const [begin, end] = [begins.get(index), ends.get(index)]
    if (begin !== undefined) unlink(begin)
    if (end !== undefined) unlink(end)
    if (turn === undefined) required--
    if (path.length > longest.length) longest = path.map((step) => step.index)
    return true
  }

  /** Position of the search: at a mark of an ended operation, then at an index in `open`. */
  let mark = head.next
  let turn = 0
  while (required > 0) {
    if (seen.size > mostBeginnings) return { _tag: "Undecided", steps: seen.size }
    if (mark !== undefined && !mark.isEnd) {
      const { index, next } = mark
      mark = place(index, undefined) ? head.next : next
      continue
    }
    // candidates were sent before the first remaining end
    let firstEnd = head.next
    while (firstEnd !== undefined && !firstEnd.isEnd) firstEnd = firstEnd.next
    const waiting = open[turn]
    if (waiting !== undefined && waiting.sentAt < (firstEnd?.at ?? Infinity)) {
      const isPlaced = place(waiting.index, turn)
      turn = isPlaced ? 0 : turn + 1
      if (isPlaced) mark = head.next
      continue
    }
    // an operation that ended has no place: take back the last one that could also come later
    let back = path.pop()
    while (back !== undefined) {
      const [begin, end] = [begins.get(back.index), ends.get(back.index)]
      if (end !== undefined) relink(end)
      if (begin !== undefined) relink(begin)
      placed[back.index] = 0
      if (back.turn === undefined) required++
      state = back.before
      if (!back.isFree) break
      back = path.pop()
    }
    if (back === undefined) {
      return { _tag: "NotLinearizable", order: callsOf(longest), stuck: callsOf(stuckAfter(longest)) }
    }
    mark = back.turn === undefined ? begins.get(back.index)?.next : undefined
    turn = back.turn === undefined ? 0 : back.turn + 1
  }
  return { _tag: "Linearizable", order: callsOf(path.map(({ index }) => index)) }
}
