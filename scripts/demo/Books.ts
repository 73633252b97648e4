/**
 * What the answers of the service leave possible.
 *
 * Mostly that is one book: what the contract says of everything sent so far. When nobody knows whether a message arrived, or
 * several were sent at once, there is one for each way it can have happened; an answer keeps those that explain it. When none
 * is left, the service has answered what it must not.
 */
import { Equal } from "effect"
import { type Answer, differences, partsOf } from "./Answer.ts"
import { type Wallet, credit, decide, emptyWallet } from "../../test/kit/WalletModel.ts"
import { type Message, nameOf, transactionIdOf } from "../../test/kit/WalletMessages.ts"

/** What is known of a request: its answer, or undefined when nobody knows what became of it. */
export type Told = Answer | undefined

const distinct = (books: ReadonlyArray<Wallet>): ReadonlyArray<Wallet> =>
  books.filter((book, index) => !books.slice(0, index).some((other) => Equal.equals(book, other)))

/** The books after a message, of those that explain what was told about it. */
const explain = (books: ReadonlyArray<Wallet>, message: Message, told: Told): ReadonlyArray<Wallet> =>
  books.flatMap((book) => {
    const { expected, wallet: after } = decide(book, message)
    if (told === undefined) return [book, after]
    return differences(message, expected, told).length === 0 ? [after] : []
  })

/** Every order of the items. */
const orders = <A>(items: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  items.length < 2
    ? [items]
    : items.flatMap((item, index) => orders(items.toSpliced(index, 1)).map((rest) => [item, ...rest]))

export class Books {
  private possible: ReadonlyArray<Wallet> = [emptyWallet]
  /** The ledger entries that each message stands for, and the message of each entry. */
  private readonly entriesOf = new Map<string, string>()
  private readonly messageOf = new Map<number, string>()

  /** What is known. It is all there is to know once every message was answered. */
  get book(): Wallet {
    return this.possible[0] ?? emptyWallet
  }

  deposited(amount: number): void {
    this.possible = this.possible.map((book) => credit(book, amount))
  }

  /** Takes in what was told about messages that were sent at the same moment; says what cannot be. */
  note(messages: ReadonlyArray<Message>, told: ReadonlyArray<Told>): ReadonlyArray<string> {
    const walk = (order: ReadonlyArray<number>) =>
      order.reduce((books, index) => {
        const message = messages[index]
        return message === undefined ? books : explain(books, message, told[index])
      }, this.possible)
    const left = distinct(orders([...messages.keys()]).flatMap(walk))
    const complaints = left.length === 0 ? this.complain(messages, told) : []
    if (left.length > 0) this.possible = left
    return [...complaints, ...messages.flatMap((message, index) => this.noteEntries(message, told[index]))]
  }

  /** What is wrong with answers that nothing explains. The books go on as if they had been right. */
  private complain(messages: ReadonlyArray<Message>, told: ReadonlyArray<Told>): ReadonlyArray<string> {
    let { book } = this
    const complaints = messages.flatMap((message, index) => {
      const { expected, wallet: after } = decide(book, message)
      book = after
      const answer = told[index]
      const wrong = answer === undefined ? [] : differences(message, expected, answer)
      return wrong.length === 0 ? [] : [`${nameOf(message)}: ${wrong.join(", ")}`]
    })
    this.possible = [book]
    return [messages.length === 1 ? complaints.join() : `no order of messages sent together: ${complaints.join("; ")}`]
  }

  /** A replay names the entries of the first answer, and an entry belongs to one message. */
  private noteEntries(message: Message, told: Told): ReadonlyArray<string> {
    if (told?._tag !== "Settled") return []
    return partsOf(message).flatMap((part, index) => {
      const id = transactionIdOf(part)
      const ids = told.results[index]?.wallet_transaction_ids
      if (id === undefined || ids === undefined) return []
      const name = `${part.kind} ${id}`
      const known = this.entriesOf.get(name)
      if (known !== undefined) {
        return known === ids.join() ? [] : [`${name}: ledger entries ${ids.join()} instead of ${known}`]
      }
      this.entriesOf.set(name, ids.join())
      const taken = ids.filter((entry) => this.messageOf.has(entry))
      for (const entry of ids) this.messageOf.set(entry, name)
      return taken.map((entry) => `${name}: ledger entry ${entry} belongs to another message`)
    })
  }
}
