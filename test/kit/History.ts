/** History of clients' operations, recorded before sending, of each attempt, and of each answer. */
import type { Seat } from "./Casino.ts"
import type { Caller, Reply } from "./HttpCalls.ts"
import type { Bet, PromoWin, Rollback, Settlement, Win } from "../../scripts/simulators/pitboss/WalletMessages.ts"
import type { Input, TransitionRequest, PaymentRequest } from "./WalletRules.ts"

/**
 * One effect that happens once or not at all. `id` is its name for good: the transaction id, the external reference of a
 * payment, the username of a registration, and a name of the history for all others.
 */
export type Command =
  | Bet
  | Win
  | Rollback
  | PromoWin
  | PaymentRequest
  | (TransitionRequest & { readonly id: string })
  | { readonly kind: "limit"; readonly id: string; readonly field: string; readonly value: number }
  | { readonly kind: "registration"; readonly id: string; readonly isKeyed: true }
  | { readonly kind: "exclusion"; readonly id: string; readonly until: string; readonly isKeyed: true }

export type CommandOf<Kind extends Command["kind"]> = Extract<Command, { readonly kind: Kind }>

/** An answer to an intent. */
export type Outcome =
  | { readonly _tag: "Settled"; readonly answer: Settlement }
  /** `subject`: the payment, or the player. Not new: the answer says that it is the one to an earlier request. */
  | { readonly _tag: "Done"; readonly subject: number; readonly isNew: boolean }
  | { readonly _tag: "Refused"; readonly code: string }

export interface Intent {
  readonly command: Command
  readonly seat: Seat
  /** Id of the action that increments the wallet sequence by one: a bet and its win in one message share it. */
  readonly action: string
  /** Every answer; none while it is unanswered. */
  readonly outcomes: Array<Outcome>
}

/** Form of the answer: one settlement for all intents, one for each, or the named resource. */
export type Form = "settlement" | "batch" | "payment" | "move" | "limits" | "player" | "exclusion" | "balance"

/** A request with its intents, and how it is sent. */
export interface Operation {
  readonly to: keyof Line
  readonly method: "GET" | "POST" | "PUT"
  readonly path: string
  readonly body: (attempt: number) => { readonly [field: string]: unknown } | undefined
  readonly headers: { readonly [name: string]: string }
  readonly seat: Seat
  readonly intents: ReadonlyArray<Intent>
  /** The operation as the wallet model takes it; undefined where it does not touch the wallet. */
  readonly input: Input | undefined
  /** The refusals it may meet. */
  readonly refusals: ReadonlyArray<string>
  /** It can only be refused: anything else is wrong. */
  readonly mustBeRefused: boolean
  readonly form: Form
}

/** The senders that reach one service. */
export interface Line {
  readonly operator: Sender
  readonly provider: Sender
  /** Back office; only for clients that use it. */
  readonly staff: Sender
}

export type Sender = Pick<Caller, "send">

/** One sending of an operation. Moments are places in the order of all sendings and answers. */
export interface Attempt {
  readonly operation: Operation
  readonly sentAt: number
  /** Infinity while, or when, its effect is unknown: no answer, or one that asks to send it again. */
  endedAt: number
  reply: Reply | undefined
}

/** Where the history is kept, a line at a time, each before the client goes on. */
export interface HistoryLog {
  readonly write: (line: { readonly [field: string]: unknown }) => void
}

export class History {
  readonly intents: Array<Intent> = []
  readonly operations: Array<Operation> = []
  readonly attempts: Array<Attempt> = []
  /** Answers outside the contract. */
  readonly violations: Array<string> = []
  answers = 0
  lost = 0
  triedAgain = 0
  abandoned = 0
  waiting = 0
  /** Called when something is sent or answered. */
  onEvent: () => void = () => {}
  readonly log: HistoryLog
  private moment = 0
  private readonly numbers = new Map<Operation, number>()

  constructor(log: HistoryLog = { write: () => {} }) {
    this.log = log
  }

  /** Adds an operation before it is sent. */
  open(operation: Operation): void {
    const { intents, path, seat, to } = operation
    const number = this.operations.push(operation)
    this.numbers.set(operation, number)
    this.intents.push(...intents)
    const commands = intents.map(({ command }) => command)
    this.log.write({ what: "opens", operation: number, to, path, player: seat.playerId, commands })
  }

  begin(operation: Operation, body: unknown): Attempt {
    const attempt: Attempt = { operation, sentAt: ++this.moment, endedAt: Infinity, reply: undefined }
    const number = this.attempts.push(attempt)
    const { sentAt: moment } = attempt
    this.log.write({ what: "sends", moment, operation: this.numbers.get(operation), attempt: number, body })
    this.waiting++
    this.onEvent()
    return attempt
  }

  /** Unless its answer is `final`, the operation may still take effect. */
  end(attempt: Attempt, reply: Reply, isFinal: boolean): void {
    const { headers, status, text } = reply
    attempt.reply = reply
    this.close(attempt, "answered", { status, isReplayed: headers["idempotent-replayed"] !== undefined, body: text })
    if (isFinal) attempt.endedAt = this.moment
  }

  /** Ends an attempt that has no answer and gets none. */
  lose(attempt: Attempt, reason: string): void {
    this.lost++
    this.close(attempt, "lost", { reason })
  }

  private close({ operation, sentAt }: Attempt, what: string, more: { readonly [field: string]: unknown }): void {
    this.waiting--
    this.log.write({ what, moment: ++this.moment, operation: this.numbers.get(operation), sent: sentAt, ...more })
  }

  /** Operations that were sent and never answered. */
  unanswered(): ReadonlyArray<Operation> {
    return this.operations.filter(({ intents }) =>
      intents.length > 0 && intents.every(({ outcomes }) => outcomes.length === 0)
    )
  }
}
