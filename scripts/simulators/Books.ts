/** What a vendor knows of one player: the balance after each answered call, and what became of bets and rounds. */
import type { BetMessage, Dialect, Message, Situation } from "./Dialect.ts"

interface KnownBet {
  readonly roundId: string
  /** Minor units; zero where free rounds paid it. */
  readonly stake: number
  state: "open" | "won" | "rolled_back" | "tombstone"
}

interface KnownRound {
  /** Bets that came, and those of them that stand. */
  bets: number
  standing: number
  tombstones: number
}

export class Books {
  /** Minor units, as the wallet last answered or must have. May be below zero, which is shown as zero. */
  balance = 0
  readonly #bets = new Map<string, KnownBet>()
  readonly #rounds = new Map<string, KnownRound>()
  readonly #settled = new Set<string>()
  readonly #dialect: Pick<Dialect, "winsName" | "winsPerBet">
  readonly #minorOf: (message: { readonly amount: BetMessage["amount"] }) => number

  constructor(
    dialect: Pick<Dialect, "winsName" | "winsPerBet">,
    minorOf: (message: { readonly amount: BetMessage["amount"] }) => number
  ) {
    this.#dialect = dialect
    this.#minorOf = minorOf
  }

  #round(roundId: string): KnownRound {
    const known = this.#rounds.get(roundId)
    if (known !== undefined) return known
    const round = { bets: 0, standing: 0, tombstones: 0 }
    this.#rounds.set(roundId, round)
    return round
  }

  /** How a message stands to what was answered before it. */
  situationOf(message: Message): Situation {
    switch (message.kind) {
      case "bet":
        return this.#situationOfBet(message)
      case "bet_win":
        return this.#situationOfBet(message.bet)
      case "win": {
        if (this.#settled.has(message.id)) return "again"
        if (this.#dialect.winsName === "round" || message.bet === null) {
          const round = this.#rounds.get(message.roundId)
          if (round === undefined || round.bets === 0) return (round?.tombstones ?? 0) > 0 ? "tombstoned" : "unknown"
          return round.standing === 0 ? "rolled_back" : "first"
        }
        const bet = this.#bets.get(message.bet.id)
        if (bet === undefined) return "unknown"
        if (bet.state === "tombstone") return "tombstoned"
        if (bet.state === "won") return this.#dialect.winsPerBet === "one" ? "settled" : "first"
        return bet.state === "rolled_back" ? "rolled_back" : "first"
      }
      case "rollback": {
        const bet = this.#bets.get(message.bet.id)
        if (bet === undefined) return "unknown"
        if (bet.state === "tombstone") return "tombstoned"
        if (this.#settled.has(message.id)) return "again"
        return bet.state === "rolled_back" ? "rolled_back" : bet.state === "won" ? "settled" : "first"
      }
      case "promo":
        return this.#settled.has(message.id) ? "again" : "first"
      default:
        return "first"
    }
  }

  #situationOfBet(bet: BetMessage): Situation {
    const known = this.#bets.get(bet.id)
    if (known !== undefined) {
      return known.state === "tombstone" ? "tombstoned" : known.state === "rolled_back" ? "rolled_back" : "again"
    }
    return bet.grant === null && this.#minorOf(bet) > Math.max(0, this.balance) ? "too_much" : "first"
  }

  /** Notes a message that was answered as it must be. */
  apply(message: Message, situation: Situation, moves: boolean): void {
    switch (message.kind) {
      case "bet":
        if (moves) this.#placed(message)
        return
      case "bet_win":
        if (!moves) return
        this.#placed(message.bet)
        this.apply(message.win, "first", true)
        return
      case "win":
        if (!moves) return
        this.#settled.add(message.id)
        this.balance += this.#minorOf(message)
        for (const bet of this.#betsOf(message.roundId, message.bet)) if (bet.state === "open") bet.state = "won"
        return
      case "rollback": {
        this.#settled.add(message.id)
        const bet = this.#bets.get(message.bet.id)
        const round = this.#round(message.roundId)
        if (bet !== undefined && moves) {
          this.balance += bet.stake
          bet.state = "rolled_back"
          round.standing--
        }
        if (situation === "unknown") {
          this.#bets.set(message.bet.id, { roundId: message.roundId, stake: 0, state: "tombstone" })
          round.tombstones++
        }
        return
      }
      case "promo":
        if (!moves) return
        this.#settled.add(message.id)
        this.balance += this.#minorOf(message)
        return
      default:
    }
  }

  #placed(bet: BetMessage): void {
    const stake = bet.grant === null ? this.#minorOf(bet) : 0
    this.balance -= stake
    this.#bets.set(bet.id, { roundId: bet.roundId, stake, state: "open" })
    const round = this.#round(bet.roundId)
    round.bets++
    round.standing++
  }

  #betsOf(roundId: string, named: BetMessage | null): ReadonlyArray<KnownBet> {
    if (this.#dialect.winsName === "bet" && named !== null) {
      const bet = this.#bets.get(named.id)
      return bet === undefined ? [] : [bet]
    }
    return [...this.#bets.values()].filter((bet) => bet.roundId === roundId)
  }

  /** Forgets what no message will name again, so that a long run stays small. */
  forget(): void {
    this.#bets.clear()
    this.#rounds.clear()
    this.#settled.clear()
  }
}
