import type { Job } from "./Job.ts"
import { mixed } from "./MixedTraffic.ts"
import { OperatorCalls } from "./OperatorCalls.ts"
import { PlayerPicker } from "./PlayerPicker.ts"
import { Requests, type Traffic } from "./Requests.ts"
import { vendorBets } from "./VendorBets.ts"

const nothing = (): void => {}

/** The win of a winning bet, in stakes: with the chances below, players lose slowly. */
const winFactor = 2
const betsPerSession = 3
/** Of a hundred bets of a session so many win and so many are rolled back; the others are lost. */
const winningBets = 40
const rolledBackBets = 10

/** A player's visit: authentication, some bets with their follow-up messages, a read of the balance. */
interface Visit {
  readonly player: number
  betsLeft: number
  /** Next request. */
  step: "authenticate" | "bet" | "follow" | "balance" | "over"
  betId: string
}

/** Every connection walks through visits, one request after the other. A step that failed is not followed up. */
const sessions = (job: Job, requests: Requests, players: PlayerPicker): Traffic => {
  const visits: Array<Visit> = []
  const chance = new PlayerPicker(100, job.seed + 7)
  const visitOf = (lane: number): Visit => {
    const visit = visits[lane]
    if (visit !== undefined && visit.step !== "over") return visit
    const begun: Visit = { player: players.next(), betsLeft: betsPerSession, step: "authenticate", betId: "" }
    visits[lane] = begun
    return begun
  }
  const afterRound = (visit: Visit): Visit["step"] => visit.betsLeft > 0 ? "bet" : "balance"
  return {
    next: (lane, timestamp) => {
      const visit = visitOf(lane)
      switch (visit.step) {
        case "bet":
          visit.betsLeft -= 1
          return requests.bet(visit.player, timestamp)
        case "follow":
          return chance.next() < winningBets * 100 / (winningBets + rolledBackBets)
            ? requests.win(visit.player, timestamp, visit.betId, job.stake * winFactor)
            : requests.rollback(visit.player, timestamp, visit.betId)
        case "balance":
          return requests.ask("balance", visit.player, timestamp)
        default:
          return requests.ask("authenticate", visit.player, timestamp)
      }
    },
    ended: (lane, request, processed) => {
      const visit = visitOf(lane)
      if (visit.step === "balance" || visit.step === "authenticate" && !processed) visit.step = "over"
      else if (visit.step === "bet" && processed && chance.next() < winningBets + rolledBackBets) {
        visit.step = "follow"
        visit.betId = request.id
      } else visit.step = afterRound(visit)
    }
  }
}

/** Every connection bets for players that its node owns. */
const betsAtOwners = (
  job: Job,
  requests: Requests,
  ports: ReadonlyArray<number>,
  owners: ReadonlyArray<number>
): Traffic => {
  const own = ports.map((_, node) => {
    const indexes = owners.flatMap((owner, player) => owner === node ? [player] : [])
    if (indexes.length === 0) throw new Error(`node ${node + 1} owns no player`)
    return { indexes, picker: new PlayerPicker(indexes.length, job.seed + node) }
  })
  return {
    next: (lane, timestamp) => {
      const node = own[lane % own.length]
      return requests.bet(node?.indexes[node.picker.next()] ?? 0, timestamp)
    },
    ended: nothing
  }
}

/** The traffic of a job. */
export const makeTraffic = (job: Job): Traffic => {
  const requests = new Requests(job)
  const calls = new OperatorCalls(job)
  const players = new PlayerPicker(job.players.length, job.seed)
  const chance = new PlayerPicker(100, job.seed + 7)
  switch (job.kind) {
    case "bet":
      return job.nodes === undefined || job.nodes.owners === null
        ? { next: (_lane, timestamp) => requests.bet(players.next(), timestamp), ended: nothing }
        : betsAtOwners(job, requests, job.nodes.ports, job.nodes.owners)
    case "bet-win":
      return {
        next: (_lane, timestamp) =>
          requests.betWin(players.next(), timestamp, chance.next() < winningBets ? job.stake * winFactor : 0),
        ended: nothing
      }
    case "session":
      return sessions(job, requests, players)
    case "play":
      return { next: () => requests.play(players.next()), ended: nothing }
    case "mixed":
      return mixed(job, requests, calls)
    case "vendor-bet":
      if (job.vendor === null) throw new Error("a job of a vendor's bets names no vendor")
      return vendorBets(job, job.vendor, players)
    default: {
      const { kind } = job
      return { next: (_lane, timestamp) => calls.next(kind, players.next(), timestamp), ended: nothing }
    }
  }
}
