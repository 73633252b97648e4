import type { Job } from "./Job.ts"
import type { OperatorCalls } from "./OperatorCalls.ts"
import { PlayerPicker } from "./PlayerPicker.ts"
import type { Request, Requests, Traffic } from "./Requests.ts"

/** Shares per thousand requests. A request that is not yet possible (no open bet, no evicted round) is replaced by a bet. */
export const mixedShares = [
  ["bet", 400],
  ["win", 180],
  ["bet-win", 120],
  ["rollback", 30],
  ["batch", 30],
  ["authenticate", 20],
  ["balance", 30],
  ["wallet", 50],
  ["transactions", 20],
  ["player", 10],
  ["limits", 10],
  ["launch", 20],
  ["deposit", 15],
  ["withdrawal", 5],
  ["late win", 20],
  ["retry", 10],
  ["refused: funds", 20],
  ["refused: limit", 10]
] as const
type MixedOperation = (typeof mixedShares)[number][0]

export const mixedOperations = mixedShares.map(([name]) => name)

/** The win of a winning bet, in stakes, and how many of a hundred bets with a win in the same call have one. */
const winFactor = 2
const winningBets = 40

/** Bets that a win or a rollback may come for. */
const openBets = 4096

/**
 * Earlier play, for rounds and messages that players no longer carry: this many players each place this many bets,
 * followed by more than a player carries.
 */
const earlierPlayers = 200
const earlierBets = 12
const laterBets = 24

interface Placed {
  readonly player: number
  readonly id: string
}

interface Past {
  readonly player: number
  readonly old: Array<Placed>
  sent: number
  ended: number
}

/** A thousand operations, bets in place of those that are left out. */
const deckOf = (operations: ReadonlyArray<string>): ReadonlyArray<MixedOperation> =>
  mixedShares.flatMap(([name, share]) =>
    Array.from({ length: share }, (): MixedOperation => operations.includes(name) ? name : "bet")
  )

/**
 * Everything a casino's day holds, at the shares above. It begins with the past that late wins and retries need: at most
 * 7,200 bets, which belong into the warm-up.
 */
export const mixed = (job: Job, requests: Requests, calls: OperatorCalls): Traffic => {
  const limitedFrom = job.players.length - job.limited
  const players = new PlayerPicker(Math.max(1, limitedFrom), job.seed)
  const limitedPlayers = new PlayerPicker(Math.max(1, job.limited), job.seed + 3)
  const chance = new PlayerPicker(100, job.seed + 7)
  const deck = deckOf(job.operations)
  const cards = new PlayerPicker(deck.length, job.seed + 11)
  const pasts: Array<Past> = Array.from(
    { length: Math.min(earlierPlayers, limitedFrom) },
    (_, player) => ({ player, old: [], sent: 0, ended: 0 })
  )
  const ofPast = new Map<string, { readonly past: Past; readonly isOld: boolean }>()
  /** In random order: one player's, one after the other, would wait for each other. */
  const forgotten: Array<Placed> = []
  const places = new PlayerPicker(earlierPlayers * earlierBets, job.seed + 13)
  const open: Array<Placed> = []
  let turn = 0

  /** One of the bets that have to be placed before the others. */
  const nextOfPast = (timestamp: string): Request | undefined => {
    for (let looked = 0; looked < pasts.length; looked++) {
      const past = pasts[turn++ % pasts.length]
      if (past === undefined || past.sent === earlierBets + laterBets) continue
      const request = requests.bet(past.player, timestamp)
      ofPast.set(request.id, { past, isOld: past.sent < earlierBets })
      past.sent += 1
      return request
    }
    return undefined
  }

  const takeForgotten = (): Placed | undefined => {
    const last = forgotten.pop()
    if (last === undefined) return undefined
    const place = places.next() % (forgotten.length + 1)
    const found = forgotten[place]
    if (found === undefined) return last
    forgotten[place] = last
    return found
  }

  const bet = (timestamp: string) => requests.bet(players.next(), timestamp)

  const make = (operation: MixedOperation, timestamp: string): Request => {
    switch (operation) {
      case "bet":
        return bet(timestamp)
      case "win": {
        const found = open.shift()
        return found === undefined
          ? bet(timestamp)
          : requests.win(found.player, timestamp, found.id, job.stake * winFactor)
      }
      case "rollback": {
        const found = open.shift()
        return found === undefined ? bet(timestamp) : requests.rollback(found.player, timestamp, found.id)
      }
      case "bet-win":
        return requests.betWin(players.next(), timestamp, chance.next() < winningBets ? job.stake * winFactor : 0)
      case "batch":
        return requests.batch(players.next(), timestamp, job.stake * winFactor)
      case "authenticate":
      case "balance":
        return requests.ask(operation, players.next(), timestamp)
      case "late win": {
        const found = takeForgotten()
        return found === undefined
          ? bet(timestamp)
          : { ...requests.win(found.player, timestamp, found.id, job.stake), operation }
      }
      case "retry": {
        const found = takeForgotten()
        return found === undefined ? bet(timestamp) : requests.retry(found.player, timestamp, found.id)
      }
      case "refused: funds":
        return requests.refusedBet(players.next(), timestamp, "INSUFFICIENT_FUNDS")
      case "refused: limit":
        return job.limited === 0
          ? bet(timestamp)
          : requests.refusedBet(limitedFrom + limitedPlayers.next(), timestamp, "LIMIT_EXCEEDED")
      default:
        return calls.next(operation, players.next(), timestamp)
    }
  }

  return {
    next: (_lane, timestamp) => nextOfPast(timestamp) ?? make(deck[cards.next()] ?? "bet", timestamp),
    ended: (_lane, request, processed) => {
      const known = ofPast.get(request.id)
      if (known !== undefined) {
        ofPast.delete(request.id)
        known.past.ended += 1
        if (known.isOld && processed) known.past.old.push(request)
        if (known.past.ended === earlierBets + laterBets) forgotten.push(...known.past.old)
      } else if (request.operation === "bet" && processed && open.length < openBets) open.push(request)
    }
  }
}
