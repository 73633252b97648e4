/**
 * What a player's wallet must answer next, by what it has answered.
 *
 * Usually one state is possible: the one after all messages sent so far. When the arrival of a message is unknown, or several were sent at the same
 * moment, there is one state per possible outcome; an answer eliminates those that it contradicts. When none is left, the answer is wrong.
 */
import { Equal } from "effect"
import type { Message, Reading, Situation } from "./Dialect.ts"

/** A wallet before the first message. */
export interface Opening {
  /** Minor units. */
  readonly balance: number
  readonly walletSeq: number
  readonly entries: number
}

/** An answer: as it was read, and as it came. */
export interface Answered {
  readonly reading: Reading
  readonly status: number
  readonly body: string
}

/** What must be answered to a message, and the state after it. */
export interface Decision {
  /** For a person who reads a difference. */
  readonly situation: string
  /** The codes of right answers, where the protocol has one word for a refusal and for a call that is to be repeated. */
  readonly codes: ReadonlyArray<string>
  readonly moves: boolean
  /** What of an answer is wrong; empty when it is right. */
  readonly differences: (answered: Answered) => ReadonlyArray<string>
  readonly next: ExpectedState
}

/** The state of a player's wallet, which no message changes: each decision has the next one. */
export interface ExpectedState {
  /** Minor units. */
  readonly balance: number
  /** Entries of the ledger, where the protocol tells them. */
  readonly entries: number | undefined
  /** Everything that distinguishes this state from another. */
  readonly facts: object
  /** `situation`: of a message that is wrong by itself, such as a forged one. */
  readonly decide: (message: Message, situation?: Situation) => Decision
  readonly withDeposit: (minor: number) => ExpectedState
  /** The same with the balance that the wallet claims, so that one difference is reported once. */
  readonly withBalance: (minor: number) => ExpectedState
  /** The same without what no later message names. */
  readonly pruned: () => ExpectedState
}

/** A message that was sent. */
export interface Sending {
  readonly message: Message
  readonly situation?: Situation | undefined
}

/** Answer to a message; undefined when its outcome is unknown. */
export type Told = Answered | undefined

const distinct = (states: ReadonlyArray<ExpectedState>): ReadonlyArray<ExpectedState> =>
  states.filter((state, index) => !states.slice(0, index).some(({ facts }) => Equal.equals(facts, state.facts)))

/** States after a message that are consistent with its answer. */
const explain = (
  states: ReadonlyArray<ExpectedState>,
  { message, situation }: Sending,
  told: Told
): ReadonlyArray<ExpectedState> =>
  states.flatMap((state) => {
    const { differences, next } = state.decide(message, situation)
    if (told === undefined) return [state, next]
    return differences(told).length === 0 ? [next] : []
  })

/** States after messages in any order that are consistent with all answers. */
const explainTogether = (
  states: ReadonlyArray<ExpectedState>,
  sendings: ReadonlyArray<Sending>,
  told: ReadonlyArray<Told>
): ReadonlyArray<ExpectedState> => {
  // by the set of messages that have arrived, as bits
  let reached = new Map([[0, states]])
  for (const _ of sendings) {
    const further = new Map<number, ReadonlyArray<ExpectedState>>()
    for (const [arrived, before] of reached) {
      for (const [index, sending] of sendings.entries()) {
        const bit = 1 << index
        if ((arrived & bit) !== 0) continue
        const after = explain(before, sending, told[index])
        const known = further.get(arrived | bit) ?? []
        if (after.length > 0) further.set(arrived | bit, distinct([...known, ...after]))
      }
    }
    reached = further
  }
  return [...reached.values()].flat()
}

/** A difference of an answer from what was expected. */
export interface Difference {
  readonly sending: Sending
  readonly situation: string
  readonly text: string
  readonly answered: Answered | undefined
}

export class PossibleStates {
  #states: ReadonlyArray<ExpectedState>
  readonly #minorOf: (reading: Reading) => number | undefined

  constructor(start: ExpectedState, minorOf: (reading: Reading) => number | undefined) {
    this.#states = [start]
    this.#minorOf = minorOf
  }

  /** Known state; complete once every message was answered. */
  get state(): ExpectedState {
    const [state] = this.#states
    if (state === undefined) throw new Error("there is always a possible state")
    return state
  }

  change(change: (state: ExpectedState) => ExpectedState): void {
    this.#states = distinct(this.#states.map(change))
  }

  /** Codes that may answer a message; `isTogether`: also after other messages, and after itself. */
  codesOf({ message, situation }: Sending, isTogether: boolean): ReadonlyArray<string> {
    return this.#states.flatMap((state) => {
      const { codes, next } = state.decide(message, situation)
      return isTogether ? [...codes, ...next.decide(message, situation).codes] : codes
    })
  }

  /** Records the answers to messages sent at the same moment; gives what no order of them explains. */
  note(sendings: ReadonlyArray<Sending>, told: ReadonlyArray<Told>): ReadonlyArray<Difference> {
    const left = explainTogether(this.#states, sendings, told)
    if (left.length > 0) {
      this.#states = distinct(left)
      return []
    }
    return this.#contradict(sendings, told)
  }

  /** Differences of unexplained answers. What comes next is judged as if they had been right. */
  #contradict(sendings: ReadonlyArray<Sending>, told: ReadonlyArray<Told>): ReadonlyArray<Difference> {
    let { state } = this
    const found: Array<Difference> = []
    for (const [index, sending] of sendings.entries()) {
      const answered = told[index]
      const { differences, next, situation } = state.decide(sending.message, sending.situation)
      const minor = answered === undefined ? undefined : this.#minorOf(answered.reading)
      state = minor === undefined || minor === next.balance ? next : next.withBalance(minor)
      for (const text of answered === undefined ? [] : differences(answered)) {
        found.push({ sending, situation, text, answered })
      }
    }
    this.#states = [state]
    const [sending] = sendings
    return found.length > 0 || sending === undefined
      ? found
      : [{ sending, situation: "sent together", text: "no order of them explains the answers", answered: told[0] }]
  }
}
