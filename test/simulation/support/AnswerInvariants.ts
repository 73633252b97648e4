/** Invariants of answers against commits: done once, not at all, or as answered; only committed balances are shown. */
import type { Report } from "../../kit/LedgerInvariants.ts"
import { Schema } from "effect"
import type { PlayerStatus } from "../../../src/domain/state/Player.ts"
import type { Details, RefusalCode } from "../../../src/domain/Refusal.ts"
import type { Settlement } from "../../../src/domain/settlement/Settlement.ts"
import { roundKey } from "../../../src/domain/state/Rounds.ts"
import { type Books, type Remains, transactionKey } from "./Books.ts"
import { games, operatorOfPlayer } from "./Fixture.ts"
import type { Delivery } from "./Network.ts"
import { Observations } from "./Observations.ts"
import { type Answer, isPassing, type ProviderRequest, type Request } from "./Requests.ts"

const readPayment = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({
  data: Schema.Struct({ id: Schema.Number, amount: Schema.Number })
})))

/** Outcome of a request, as far as its service knows. */
type End = "done" | "refused" | "open"

const endOf = ({ answer }: Delivery): End => {
  if (answer === undefined || isPassing(answer)) return "open"
  return answer._tag === "Refused" || (answer._tag === "Reply" && answer.status >= 400) ? "refused" : "done"
}

/** Whether a message was answered as ignored because its rollback came first: it leaves no mark. */
const isForgotten = ({ answer, request }: Delivery, mark: string): boolean =>
  request.kind === "vendor" && answer?._tag === "Settled" &&
  request.actions.some(({ action, transactionId }, index) =>
    action !== "rollback" && answer.results[index]?.status === "ignored" &&
    transactionKey(request.providerId, transactionId) === mark
  )

/** Ids under which a request leaves its mark. */
const marksOf = (request: Request): ReadonlyArray<string> => {
  const of = (providerId: number, ...ids: ReadonlyArray<string>) => ids.map((id) => transactionKey(providerId, id))
  switch (request.kind) {
    case "bet":
    case "win":
    case "rollback":
    case "promo_win":
      return of(request.providerId, request.message.transaction_id)
    case "bet_win":
      return of(request.providerId, request.message.transaction_id, request.message.win.transaction_id)
    case "batch":
      return of(request.providerId, ...request.actions.map(({ transaction_id: id }) => id))
    case "vendor":
      return of(request.providerId, ...request.actions.map(({ transactionId }) => transactionId))
    case "deposit":
      return [`payment ${request.reference}`]
    case "withdraw":
      return [`payment ${request.id}`]
    case "grant":
      return [`grant ${request.id}`]
    case "correct":
      return [`correction ${request.id}`]
    default:
      return []
  }
}

/** Number of occurrences of each mark in the books. */
const marksIn = ({ database }: Remains, books: Books): ReadonlyMap<string, number> => {
  const marks = new Map<string, number>()
  const add = (mark: string, times = 1) => marks.set(mark, (marks.get(mark) ?? 0) + times)
  for (const [key, { row }] of books.transactions) if (row.kind !== "tombstone") add(key)
  for (const { externalReference, info, type } of books.payments.values()) {
    add(`payment ${type === "deposit" ? externalReference : info}`)
  }
  for (const [note, ids] of books.grants) if (!note.startsWith("promo code")) add(`grant ${note}`, ids.length)
  for (const { action, reason } of database.memory.tables().audit) {
    if (action === "player.correct") add(`correction ${reason}`)
  }
  return marks
}

/** Every mark exists once when acknowledged, never when refused, and only when requested. */
const checkMarks = (remains: Remains, books: Books, report: Report): void => {
  const ends = new Map<string, Array<End>>()
  for (const delivery of remains.network.deliveries) {
    for (const mark of marksOf(delivery.request)) {
      const end = isForgotten(delivery, mark) ? "open" : endOf(delivery)
      ends.set(mark, [...ends.get(mark) ?? [], end])
    }
  }
  const marks = marksIn(remains, books)
  for (const [mark, own] of ends) {
    const times = marks.get(mark) ?? 0
    if (own.includes("done") && times === 0) report("what was acknowledged is there", mark)
    if (times > 1) report("nothing is done twice", `${mark}: ${times} times`)
    if (times > 0 && own.every((end) => end === "refused")) report("what was refused is not there", mark)
  }
  for (const mark of marks.keys()) if (!ends.has(mark)) report("nobody asked for it", mark)
}

/** Step at which a mark was made; undefined when absent or unknown. */
const stepOfMark = (books: Books, mark: string): number | undefined => {
  const found = books.transactions.get(mark)
  if (found !== undefined) return found.row.kind === "tombstone" ? undefined : found.step
  const payment = [...books.payments.values()].find(({ externalReference, info, type }) =>
    mark === `payment ${type === "deposit" ? externalReference : info}`
  )
  return payment === undefined ? undefined : books.paymentSteps.get(payment.id)
}

/** A refusal is final for everything that arrived before it: none of that is done afterwards. */
const checkRefusals = ({ network, plan }: Remains, books: Books, report: Report): void => {
  // two concurrent services do not wait for each other
  if (plan.topology === "both" || plan.faults.some(({ kind }) => kind === "failover")) return
  const byMark = new Map<string, Array<Delivery>>()
  for (const delivery of network.deliveries) {
    for (const mark of marksOf(delivery.request)) byMark.set(mark, [...byMark.get(mark) ?? [], delivery])
  }
  for (const [mark, own] of byMark) {
    const step = stepOfMark(books, mark)
    if (step === undefined) continue
    const refusals = own.filter((one) => endOf(one) === "refused" && (one.endedAt ?? 0) < step)
    // between nodes a request may be overtaken by a later one
    const isBefore = (one: Delivery, refusal: Delivery) =>
      plan.topology === "nodes"
        ? endOf(one) !== "open" && (one.endedAt ?? Number.POSITIVE_INFINITY) < refusal.sentAt
        : one.arrivedAt < refusal.arrivedAt
    const isLastWord = refusals.some((refusal) => own.every((one) => one === refusal || isBefore(one, refusal)))
    if (isLastWord) report("a refusal is the last word", `${mark} was refused, and committed at step ${step}`)
  }
}

const sameIds = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): boolean => one.join() === other.join()

class AnswerCheck {
  private readonly remains: Remains
  private readonly books: Books
  private readonly report: Report
  private readonly processed = new Map<string, number>()
  private readonly observations: Observations

  constructor(remains: Remains, books: Books, report: Report) {
    this.remains = remains
    this.books = books
    this.report = report
    this.observations = new Observations(remains, books, report)
  }

  end(): void {
    this.observations.check()
  }

  check(delivery: Delivery): void {
    const { answer, endedAt, request } = delivery
    if (answer === undefined || endedAt === undefined) return
    if (answer._tag === "Balances") this.observations.see(delivery, answer.playerId, -1, answer)
    if (answer._tag === "Settled" && "providerId" in request) {
      this.checkSettled(delivery, endedAt, request, answer.results)
    }
    if (request.kind === "view" && request.operatorId !== operatorOfPlayer(request.playerId)) {
      const isHidden = answer._tag === "Refused" && (answer.code === "NOT_FOUND" || isPassing(answer))
      if (!isHidden) {
        this.report("a tenant sees its own", `player ${request.playerId} was shown to ${request.operatorId}`)
      }
    }
    if (answer._tag === "Refused") this.checkRefused(delivery, answer.code, answer.details)
    if (endOf(delivery) === "done") this.checkDone(delivery, endedAt, answer)
  }

  /** A refusal for insufficient funds shows a true balance. */
  private checkRefused(delivery: Delivery, code: RefusalCode, details: Details): void {
    const { request } = delivery
    const playerId = this.remains.clients.playerOf(delivery.actionId)
    const balance = details["balance"]
    // intermediate states of a refused batch never existed
    if (
      code !== "INSUFFICIENT_FUNDS" || request.kind === "batch" || request.kind === "vendor" || playerId === undefined
    ) return
    if (typeof balance === "number") this.observations.see(delivery, playerId, -1, { real: balance, bonus: undefined })
  }

  private checkSettled(
    delivery: Delivery,
    endedAt: number,
    request: ProviderRequest,
    results: ReadonlyArray<Settlement>
  ): void {
    const playerOf = this.remains.clients.playerOf(delivery.actionId)
    for (const [index, result] of results.entries()) {
      const id = result.transactionId
      if (id === null) {
        if (request.kind === "close") this.checkClosed(delivery, request)
        continue
      }
      const ids = request.kind === "bet_win" ? [id, request.message.win.transaction_id] : [id]
      const found = ids.map((each) => this.books.transactions.get(transactionKey(request.providerId, each)))
      const about = `${request.kind} ${id} on ${delivery.service}, ${result.status}`
      if (found.some((one) => one === undefined || one.step > endedAt)) {
        this.report("acknowledged is durable", `${about}, was not committed by then`)
        continue
      }
      const rows = found.flatMap((one) => one === undefined ? [] : [one.row])
      const moved = rows.reduce((sum, { realAmount }) => sum + realAmount, 0)
      const isSame = sameIds(result.entryIds, rows.flatMap(({ entryIds }) => entryIds)) && result.realAmount === moved
      if (!isSame) this.report("answers agree with the books", `${about}: other entries or amounts`)
      if (result.status === "processed") {
        const key = transactionKey(request.providerId, id)
        this.processed.set(key, (this.processed.get(key) ?? 0) + 1)
        if (this.processed.get(key) === 2) this.report("nothing is done twice", `${about} more than once`)
      }
      if (index === results.length - 1 && playerOf !== undefined) {
        const step = found.reduce((last, one) => Math.max(last, one?.step ?? -1), -1)
        this.observations.see(delivery, playerOf, step, { real: result.balance, bonus: result.bonusBalance })
      }
    }
  }

  private checkClosed(
    { actionId }: Delivery,
    { message, providerId }: Extract<ProviderRequest, { kind: "close" }>
  ): void {
    const game = games.find(({ externalId, provider }) => provider.id === providerId && externalId === message.game_id)
    const playerId = this.remains.clients.playerOf(actionId)
    if (game === undefined || playerId === undefined) return
    const round = this.remains.database.memory.tables().rounds.get(playerId)?.get(roundKey(game.id, message.round_id))
    if (round?.closed !== true) this.report("what was acknowledged is there", `the end of round ${message.round_id}`)
  }

  private checkDone(delivery: Delivery, endedAt: number, answer: Answer): void {
    const { request, sentAt } = delivery
    const about = `${request.kind} of ${delivery.actionId} on ${delivery.service}`
    if (answer._tag === "Reply" && (request.kind === "deposit" || request.kind === "withdraw")) {
      const { amount, id } = readPayment(answer.body).data
      const step = this.books.paymentSteps.get(id)
      if (step === undefined || step > endedAt) {
        this.report("acknowledged is durable", `${about} was not committed by then`)
      }
      this.observations.see(delivery, request.playerId, step ?? -1, undefined)
      if (amount !== request.amount) this.report("answers agree with the books", `${about}: another amount`)
    }
    if (request.kind === "account") this.checkStatus(about, sentAt, endedAt, request.playerId, request.status)
  }

  /** An acknowledged status was the player's at some moment in between. */
  private checkStatus(about: string, sentAt: number, endedAt: number, playerId: number, status: PlayerStatus): void {
    let standing: PlayerStatus = "active"
    let wasSo = false
    for (const { changes, step } of this.books.history.get(playerId) ?? []) {
      if (step > sentAt && standing === status) wasSo = true
      if (step > endedAt) break
      for (const { settings } of changes) {
        standing = settings?.status ?? standing
        if (step > sentAt && standing === status) wasSo = true
      }
    }
    if (!wasSo && standing !== status) this.report("acknowledged is durable", `${about}: it was never ${status}`)
  }
}

/** Under one idempotency key all answers are the same. */
const checkKeys = ({ network }: Remains, report: Report): void => {
  const byKey = Map.groupBy(
    network.deliveries.filter(({ request }) => "key" in request && request.key !== null),
    ({ request }) => "key" in request ? `${request.operatorId} ${request.key}` : ""
  )
  for (const [key, own] of byKey) {
    const replies = own.flatMap(({ answer }) => answer?._tag === "Reply" ? [answer] : [])
    const replays = new Set(replies.filter(({ isReplay }) => isReplay).map(({ body, status }) => `${status} ${body}`))
    if (replays.size > 1) report("a key has one answer", `${key}: ${[...replays].join(" | ")}`)
    const made = replies.filter(({ isReplay, status }) => !isReplay && status === 201)
    if (made.length > 1) report("a key does its work once", `${key}: ${made.length} times`)
    const first = made[0]
    const [replay] = replays
    if (first !== undefined && replay !== undefined && replay !== `${first.status} ${first.body}`) {
      report("a key has one answer", `${key}: first ${first.body}, then ${replay}`)
    }
  }
}

/** No bet sent after an acknowledged exclusion is accepted while the exclusion lasts. */
const checkExclusions = ({ network }: Remains, books: Books, report: Report): void => {
  const firstSent = new Map<string, number>()
  for (const { request, sentAt } of network.deliveries) {
    for (const mark of marksOf(request)) firstSent.set(mark, Math.min(firstSent.get(mark) ?? sentAt, sentAt))
  }
  for (const delivery of network.deliveries) {
    const { endedAt, request } = delivery
    if (request.kind !== "exclude" || endedAt === undefined || endOf(delivery) !== "done") continue
    const { playerId } = request
    const state = (books.history.get(playerId) ?? []).findLast(({ step }) => step <= endedAt)?.state
    const until = state?.exclusion?.until
    if (until === undefined || until === null) continue
    for (const [key, { row }] of books.transactions) {
      if (row.playerId !== playerId || row.kind !== "bet" || row.createdAt >= until) continue
      if ((firstSent.get(key) ?? 0) > endedAt) {
        report("an exclusion holds from its answer on", `bet ${key}, sent after player ${playerId} was excluded`)
      }
    }
  }
}

/** No game launch at any node succeeds when requested after an exclusion was acknowledged at another. */
const checkLaunches = ({ network, plan }: Remains, report: Report): void => {
  // in other topologies days pass, and exclusions end
  if (plan.topology !== "nodes") return
  const excluded = network.deliveries.flatMap((one) =>
    one.request.kind === "exclude" && endOf(one) === "done" && one.endedAt !== undefined
      ? [{ playerId: one.request.playerId, endedAt: one.endedAt }]
      : []
  )
  for (const delivery of network.deliveries) {
    const { actionId, answer, request, sentAt, service } = delivery
    if (request.kind !== "launch" || answer?._tag !== "Reply" || answer.isReplay || endOf(delivery) !== "done") continue
    if (excluded.some(({ endedAt, playerId }) => playerId === request.playerId && endedAt < sentAt)) {
      report("an exclusion holds from its answer on", `launch ${actionId} on ${service}`)
    }
  }
}

/** Every request that reached a living service is answered by it. */
const checkForgotten = ({ cluster, network }: Remains, report: Report): void => {
  for (const { actionId, endedAt, request, service } of network.deliveries) {
    if (endedAt === undefined && cluster.isLiving(service)) {
      report("nobody is forgotten", `${request.kind} of ${actionId} on ${service}`)
    }
  }
}

export const checkAnswers = (remains: Remains, books: Books, report: Report): void => {
  const judge = new AnswerCheck(remains, books, report)
  for (const delivery of remains.network.deliveries) judge.check(delivery)
  judge.end()
  checkMarks(remains, books, report)
  checkRefusals(remains, books, report)
  checkKeys(remains, report)
  checkExclusions(remains, books, report)
  checkLaunches(remains, report)
  checkForgotten(remains, report)
  for (const { action, unanswered } of remains.clients.notes) {
    for (const request of unanswered) report("everybody is answered in the end", `${request.kind} of ${action.id}`)
  }
}
