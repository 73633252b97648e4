/** The expected state in the protocol of a vendor: the balance, and what became of bets and rounds. */
import { HashMap, HashSet, Option } from "effect"
import { decimalText } from "./Reading.ts"
import { fromUnits, toMinorUnits } from "../../src/protocols/Decimal.ts"
import type { BetMessage, Dialect, Message, Situation } from "./Dialect.ts"
import type { Answered, Decision, ExpectedState } from "./ExpectedState.ts"

interface KnownBet {
  readonly roundId: string
  /** Minor units; zero where free rounds paid it. */
  readonly stake: number
  readonly state: "open" | "won" | "rolled_back" | "tombstone"
}

interface KnownRound {
  /** Bets that came, and those of them that stand. */
  readonly bets: number
  readonly standing: number
  readonly tombstones: number
}

interface Facts {
  /** Minor units, as the wallet last answered or must have. May be below zero, which is shown as zero. */
  readonly balance: number
  readonly bets: HashMap.HashMap<string, KnownBet>
  readonly rounds: HashMap.HashMap<string, KnownRound>
  readonly settled: HashSet.HashSet<string>
}

type Protocol = Pick<Dialect, "winsName" | "winsPerBet" | "expect">

const emptyRound: KnownRound = { bets: 0, standing: 0, tombstones: 0 }

const nothingKnown = { bets: HashMap.empty(), rounds: HashMap.empty(), settled: HashSet.empty() } as const

const roundOf = ({ rounds }: Facts, roundId: string): KnownRound =>
  Option.getOrElse(HashMap.get(rounds, roundId), () => emptyRound)

const withBet = (facts: Facts, id: string, bet: KnownBet): Facts => ({
  ...facts,
  bets: HashMap.set(facts.bets, id, bet)
})

const withRound = (facts: Facts, roundId: string, change: Partial<KnownRound>): Facts => ({
  ...facts,
  rounds: HashMap.set(facts.rounds, roundId, { ...roundOf(facts, roundId), ...change })
})

const withSettled = (facts: Facts, id: string): Facts => ({ ...facts, settled: HashSet.add(facts.settled, id) })

const withMoney = (facts: Facts, minor: number): Facts => ({ ...facts, balance: facts.balance + minor })

export class SituationState implements ExpectedState {
  readonly facts: Facts
  readonly entries = undefined
  readonly #protocol: Protocol
  readonly #digits: number

  constructor(protocol: Protocol, digits: number, facts: Facts = { balance: 0, ...nothingKnown }) {
    this.facts = facts
    this.#protocol = protocol
    this.#digits = digits
  }

  get balance(): number {
    return this.facts.balance
  }

  #with(facts: Facts): SituationState {
    return new SituationState(this.#protocol, this.#digits, facts)
  }

  withDeposit(minor: number): SituationState {
    return this.#with(withMoney(this.facts, minor))
  }

  withBalance(balance: number): SituationState {
    return this.#with({ ...this.facts, balance })
  }

  pruned(): SituationState {
    return this.#with({ balance: this.balance, ...nothingKnown })
  }

  decide(message: Message, given?: Situation): Decision {
    const situation = given ?? this.#situationOf(message)
    const expectation = this.#protocol.expect(message.kind, situation)
    const next = given === undefined
      ? this.#with(this.#after(this.facts, message, situation, expectation.moves))
      : this
    const differences = ({ reading, status }: Answered): ReadonlyArray<string> => {
      const { balance, code } = reading
      const found: Array<string> = []
      const http = expectation.http ?? [200]
      if (!http.includes(status)) found.push(`HTTP ${status} instead of ${http.join(" or ")}`)
      if (!expectation.codes.includes(code)) found.push(`${code} instead of ${expectation.codes.join(" or ")}`)
      if (balance === undefined && expectation.balance === "required") found.push("the balance is missing")
      if (balance !== undefined && expectation.balance === "absent") found.push("a balance where none belongs")
      const expected = Math.max(0, next.balance)
      if (balance !== undefined && toMinorUnits(balance, this.#digits) !== expected) {
        found.push(`balance ${decimalText(balance)} instead of ${decimalText(fromUnits(expected, this.#digits))}`)
      }
      return found
    }
    return { situation, codes: expectation.codes, moves: expectation.moves, differences, next }
  }

  #minorOf({ amount }: { readonly amount: BetMessage["amount"] }): number {
    return toMinorUnits(amount, this.#digits) ?? Number.NaN
  }

  /** How a message stands to what was answered before it. */
  #situationOf(message: Message): Situation {
    const { bets, rounds, settled } = this.facts
    switch (message.kind) {
      case "bet":
        return this.#situationOfBet(message)
      case "bet_win":
        return this.#situationOfBet(message.bet)
      case "win": {
        if (HashSet.has(settled, message.id)) return "duplicate"
        if (this.#protocol.winsName === "round" || message.bet === null) {
          const round = Option.getOrUndefined(HashMap.get(rounds, message.roundId))
          if (round === undefined || round.bets === 0) return (round?.tombstones ?? 0) > 0 ? "tombstoned" : "unknown"
          return round.standing === 0 ? "rolled_back" : "new"
        }
        const bet = Option.getOrUndefined(HashMap.get(bets, message.bet.id))
        if (bet === undefined) return "unknown"
        if (bet.state === "tombstone") return "tombstoned"
        if (bet.state === "won") return this.#protocol.winsPerBet === "one" ? "settled" : "new"
        return bet.state === "rolled_back" ? "rolled_back" : "new"
      }
      case "rollback": {
        const bet = Option.getOrUndefined(HashMap.get(bets, message.bet.id))
        if (bet === undefined) return "unknown"
        if (bet.state === "tombstone") return "tombstoned"
        if (HashSet.has(settled, message.id)) return "duplicate"
        return bet.state === "rolled_back" ? "rolled_back" : bet.state === "won" ? "settled" : "new"
      }
      case "promo":
        return HashSet.has(settled, message.id) ? "duplicate" : "new"
      default:
        return "new"
    }
  }

  #situationOfBet(bet: BetMessage): Situation {
    const known = Option.getOrUndefined(HashMap.get(this.facts.bets, bet.id))
    if (known !== undefined) {
      return known.state === "tombstone" ? "tombstoned" : known.state === "rolled_back" ? "rolled_back" : "duplicate"
    }
    return bet.grant === null && this.#minorOf(bet) > Math.max(0, this.balance) ? "insufficient_funds" : "new"
  }

  /** The facts after a message that is answered as it must be. */
  #after(facts: Facts, message: Message, situation: Situation, moves: boolean): Facts {
    switch (message.kind) {
      case "bet":
        return moves ? this.#placed(facts, message) : facts
      case "bet_win":
        return moves ? this.#after(this.#placed(facts, message.bet), message.win, "new", true) : facts
      case "win": {
        if (!moves) return facts
        let after = withMoney(withSettled(facts, message.id), this.#minorOf(message))
        for (const [id, bet] of this.#betsOf(facts, message.roundId, message.bet)) {
          if (bet.state === "open") after = withBet(after, id, { ...bet, state: "won" })
        }
        return after
      }
      case "rollback": {
        const { bet: { id }, roundId } = message
        const after = withSettled(facts, message.id)
        const bet = Option.getOrUndefined(HashMap.get(facts.bets, id))
        const round = roundOf(facts, roundId)
        if (bet !== undefined && moves) {
          const returned = withBet(withMoney(after, bet.stake), id, { ...bet, state: "rolled_back" })
          return withRound(returned, roundId, { standing: round.standing - 1 })
        }
        return situation === "unknown"
          ? withRound(withBet(after, id, { roundId, stake: 0, state: "tombstone" }), roundId, {
            tombstones: round.tombstones + 1
          })
          : after
      }
      case "promo":
        return moves ? withMoney(withSettled(facts, message.id), this.#minorOf(message)) : facts
      default:
        return facts
    }
  }

  #placed(facts: Facts, bet: BetMessage): Facts {
    const stake = bet.grant === null ? this.#minorOf(bet) : 0
    const { bets, standing } = roundOf(facts, bet.roundId)
    return withRound(
      withBet(withMoney(facts, 0 - stake), bet.id, { roundId: bet.roundId, stake, state: "open" }),
      bet.roundId,
      { bets: bets + 1, standing: standing + 1 }
    )
  }

  #betsOf({ bets }: Facts, roundId: string, named: BetMessage | null): ReadonlyArray<readonly [string, KnownBet]> {
    const ofRound = [...bets].filter(([, bet]) => bet.roundId === roundId)
    return this.#protocol.winsName === "bet" && named !== null ? ofRound.filter(([id]) => id === named.id) : ofRound
  }
}
