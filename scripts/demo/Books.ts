/**
 * States of the wallet that are consistent with the answers of the service.
 *
 * Usually a single book: the state by the contract after all messages sent so far. When the arrival of a message is unknown, or
 * several were sent concurrently, there is one book per possible outcome; an answer eliminates inconsistent ones. When none
 * is left, an answer violates the contract.
 */
import { Equal } from "effect"
import { type Answer, differences, partsOf } from "./Answer.ts"
import { type Wallet, credit, decide, emptyWallet } from "../../test/kit/WalletModel.ts"
import { type Message, nameOf, transactionIdOf } from "../../test/kit/WalletMessages.ts"

/** Answer to a request; undefined when its outcome is unknown. */
export type Told = Answer | undefined

const distinct = (books: ReadonlyArray<Wallet>): ReadonlyArray<Wallet> =>
  books.filter((book, index) => !books.slice(0, index).some((other) => Equal.equals(book, other)))

/** Books after a message that are consistent with its answer. */
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
  /** Ledger entries of each message, and the message of each entry. */
  private readonly entriesOf = new Map<string, string>()
  private readonly messageOf = new Map<number, string>()

  /** Known state; complete once every message was answered. */
  get book(): Wallet {
    return this.possible[0] ?? emptyWallet
  }

  deposited(amount: number): void {
    this.possible = this.possible.map((book) => credit(book, amount))
  }

  /** Records the answers to concurrently sent messages; returns the contradictions. */
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

  /** Contradictions of unexplained answers. The books continue as if the answers had been right. */
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
