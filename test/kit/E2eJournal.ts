/** What journalists write down: what they want, before they ask for it; when they asked; and what they heard. */
import type { Caller } from "./E2eHttp.ts"
import type { Seat, Settled } from "./E2eWorld.ts"
import type { Reply } from "./HttpCalls.ts"

/** What staff make of a withdrawal. */
export type DeskMove = "approve" | "pay" | "reject" | "cancel"

/**
 * One thing that is to happen once or not at all. `id` is its name for good: the transaction id, the external reference of a
 * payment, the username of a registration, and a name that only the journal knows for what has none.
 */
export type Wanted =
  | { readonly kind: "bet"; readonly id: string; readonly amount: number; readonly roundId: string }
  | {
    readonly kind: "win"
    readonly id: string
    readonly amount: number
    readonly roundId: string
    readonly betId: string
  }
  | { readonly kind: "rollback"; readonly id: string; readonly targetId: string }
  | { readonly kind: "promo_win"; readonly id: string; readonly amount: number }
  | { readonly kind: "deposit" | "withdrawal"; readonly id: string; readonly amount: number; readonly isKeyed: boolean }
  | { readonly kind: "move"; readonly id: string; readonly move: DeskMove; readonly reference: string }
  | { readonly kind: "limit"; readonly id: string; readonly field: string; readonly value: number }
  | { readonly kind: "registration"; readonly id: string; readonly isKeyed: true }
  | { readonly kind: "exclusion"; readonly id: string; readonly until: string; readonly isKeyed: true }

export type WantedOf<Kind extends Wanted["kind"]> = Extract<Wanted, { readonly kind: Kind }>

/** What was heard. */
export type Heard =
  | { readonly _tag: "Settled"; readonly answer: Settled }
  /** `subject`: the payment, or the player. Not new: the answer says that it is the one to an earlier request. */
  | { readonly _tag: "Done"; readonly subject: number; readonly isNew: boolean }
  | { readonly _tag: "Refused"; readonly code: string }

export interface Note {
  readonly wanted: Wanted
  /** Whose it is. */
  readonly seat: Seat
  /** What moves the wallet sequence by one: a bet and its win in one message share it. */
  readonly action: string
  /** Every answer; none when nobody ever answered. */
  readonly heard: Array<Heard>
}

/** How an answer is read: one settlement for all notes, one for each, or what its name says. */
export type Form = "settlement" | "batch" | "payment" | "move" | "limits" | "player" | "exclusion" | "balance"

/** A message: what it wants, and how it is sent. */
export interface Letter {
  readonly to: keyof Line
  readonly method: "GET" | "POST" | "PUT"
  readonly path: string
  readonly body: (attempt: number) => { readonly [field: string]: unknown } | undefined
  readonly headers: { readonly [name: string]: string }
  /** Whom it is about. */
  readonly seat: Seat
  readonly notes: ReadonlyArray<Note>
  /** The refusals it may meet. */
  readonly refusals: ReadonlyArray<string>
  /** It can only be refused: anything else is wrong. */
  readonly mustBeRefused: boolean
  readonly form: Form
}

/** A way to the service. */
export interface Line {
  readonly operator: Sender
  readonly provider: Sender
  /** The back office; only for journalists who have something to do there. */
  readonly staff: Sender
}

export type Sender = Pick<Caller, "send">

/** One sending of a letter. The moments are places in the order of all that was sent and heard. */
export interface Operation {
  readonly letter: Letter
  readonly sentAt: number
  /** Infinity while, or when, it is not known what came of it: no answer, or one that asks to send it again. */
  endedAt: number
  reply: Reply | undefined
}

/** Where the journal is kept, a line at a time, each before what it tells of goes on. */
export interface Diary {
  readonly write: (line: { readonly [field: string]: unknown }) => void
}

const forgetful: Diary = { write: () => {} }

export class Notebook {
  readonly notes: Array<Note> = []
  readonly letters: Array<Letter> = []
  readonly operations: Array<Operation> = []
  /** Answers that nobody should ever get. */
  readonly surprises: Array<string> = []
  answers = 0
  lost = 0
  triedAgain = 0
  abandoned = 0
  waiting = 0
  /** Called when something is sent or answered. */
  onEvent: () => void = () => {}
  readonly diary: Diary
  private moment = 0
  private readonly numbers = new Map<Letter, number>()

  constructor(diary: Diary = forgetful) {
    this.diary = diary
  }

  /** A letter that is to be sent. */
  open(letter: Letter): void {
    const number = this.letters.push(letter)
    this.numbers.set(letter, number)
    this.notes.push(...letter.notes)
    this.diary.write({
      what: "wants",
      letter: number,
      to: letter.to,
      path: letter.path,
      player: letter.seat.playerId,
      wanted: letter.notes.map(({ wanted }) => wanted)
    })
  }

  /** A letter goes out. */
  begin(letter: Letter, body: unknown): Operation {
    const operation: Operation = { letter, sentAt: ++this.moment, endedAt: Infinity, reply: undefined }
    const attempt = this.operations.push(operation)
    this.diary.write({ what: "sends", moment: operation.sentAt, letter: this.numbers.get(letter), attempt, body })
    this.waiting++
    this.onEvent()
    return operation
  }

  /** Its answer is there. Unless it is `final`, what it asked for may still happen. */
  end(operation: Operation, reply: Reply, isFinal: boolean): void {
    this.waiting--
    this.moment++
    operation.reply = reply
    if (isFinal) operation.endedAt = this.moment
    const { status, text } = reply
    this.diary.write({
      what: "hears",
      moment: this.moment,
      letter: this.numbers.get(operation.letter),
      sent: operation.sentAt,
      status,
      isReplayed: reply.headers["idempotent-replayed"] !== undefined,
      body: text
    })
  }

  /** It has no answer and gets none. */
  lose(operation: Operation, reason: string): void {
    this.waiting--
    this.lost++
    this.moment++
    this.diary.write({
      what: "loses",
      moment: this.moment,
      letter: this.numbers.get(operation.letter),
      sent: operation.sentAt,
      reason
    })
  }

  /** Letters of which nobody has heard anything, though they were sent. */
  unanswered(): ReadonlyArray<Letter> {
    return this.letters.filter(({ notes }) => notes.length > 0 && notes.every(({ heard }) => heard.length === 0))
  }
}
