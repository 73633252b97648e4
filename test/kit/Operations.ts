/** Operations of clients: requests, intents, permitted refusals, and form of the answer. */
import type { Command, Intent, Operation } from "./History.ts"
import { registration, type Seat } from "./Casino.ts"
import {
  type Bet,
  bodyOf,
  currency,
  type Message,
  pathOf,
  type PromoWin,
  requestIdOf,
  type Rollback,
  type Win
} from "../../scripts/simulators/pitboss/WalletMessages.ts"
import type { TransitionRequest } from "./WalletRules.ts"

const operatorPath = "/api/v1/operator/players"

/** The method of withdrawals. */
export const withdrawalMethod = "bank"

const intent = (seat: Seat, command: Command, action = command.id): Intent => ({ command, seat, action, outcomes: [] })

/** A message of a provider: its intents are its parts, and a bet with its win in one message is one action. */
const toProvider = (seat: Seat, message: Message, refusals: ReadonlyArray<string> = []): Operation => {
  const parts: ReadonlyArray<Bet | Win | Rollback | PromoWin> = message.kind === "batch"
    ? message.actions
    : message.kind === "bet_win"
    ? [message.bet, message.win]
    : message.kind === "close"
    ? []
    : [message]
  const names = { token: seat.token, demoToken: "", playerRef: seat.ref }
  const action = message.kind === "bet_win" ? message.bet.id : undefined
  return {
    to: "provider",
    method: "POST",
    path: pathOf(message),
    body: (attempt) => bodyOf(message, names, `${requestIdOf(message)}-${attempt}`),
    headers: {},
    seat,
    intents: parts.map((part) => intent(seat, part, action)),
    input: message,
    refusals,
    mustBeRefused: false,
    form: message.kind === "batch" ? "batch" : "settlement"
  }
}

const toOperator = (
  path: string,
  seat: Seat,
  command: Command,
  body: { readonly [field: string]: unknown },
  rest: Pick<Operation, "form"> & Partial<Operation>
): Operation => ({
  to: "operator",
  method: "POST",
  path: `${operatorPath}${path}`,
  body: () => body,
  headers: "isKeyed" in command && command.isKeyed ? { "Idempotency-Key": `key-${command.id}` } : {},
  seat,
  intents: [intent(seat, command)],
  input: command.kind === "deposit" || command.kind === "withdrawal" ? command : undefined,
  refusals: [],
  mustBeRefused: false,
  ...rest
})

/** Operations of one client, with ids prefixed by its name. */
export const makeOperations = (name: string) => {
  let names = 0
  const fresh = (what: string): string => `${name}-${what}${++names}`
  const payment = (
    kind: "deposit" | "withdrawal",
    seat: Seat,
    amount: number,
    isKeyed: boolean,
    more: Partial<Operation> = {}
  ): Operation => {
    const command = { kind, id: fresh(kind), amount, isKeyed } as const
    const method = kind === "withdrawal" ? { payment_method: withdrawalMethod } : {}
    const body = { amount, external_reference: command.id, ...method }
    return toOperator(`/${seat.playerId}/${kind}s`, seat, command, body, { form: "payment", ...more })
  }
  const bet = ({ game }: Seat, amount: number, id = fresh("bet")): Bet => {
    const round = { gameId: game.externalId, roundId: fresh("round") }
    return { kind: "bet", id, round, amount, currency, session: "real", closes: false }
  }
  const win = ({ id: betId, round }: Bet, amount: number): Win => ({
    kind: "win",
    id: fresh("win"),
    round,
    betId,
    amount,
    closes: false
  })
  return {
    fresh,
    bet: (seat: Seat, amount: number, refusals: ReadonlyArray<string>, id = fresh("bet")): Operation =>
      toProvider(seat, bet(seat, amount, id), refusals),
    win: ({ command, seat }: Intent, amount: number): Operation => {
      if (command.kind !== "bet") throw new Error("no bet")
      return toProvider(seat, win(command, amount))
    },
    betWin: (seat: Seat, amount: number, paid: number): Operation => {
      const placed = bet(seat, amount)
      return toProvider(seat, { kind: "bet_win", bet: placed, win: win(placed, paid) }, ["INSUFFICIENT_FUNDS"])
    },
    rollback: (seat: Seat, targetId: string): Operation =>
      toProvider(seat, { kind: "rollback", id: fresh("rollback"), targetId }),
    promoWin: (seat: Seat, amount: number): Operation =>
      toProvider(seat, { kind: "promo_win", id: fresh("promo"), amount, prize: "jackpot" }),
    /** Two bets on one round and a win on the first. */
    batch: (seat: Seat, amount: number, paid: number): Operation => {
      const first = bet(seat, amount)
      const second = { ...bet(seat, amount + 1), round: first.round }
      const actions = [first, second, win(first, paid)]
      return toProvider(seat, { kind: "batch", id: fresh("batch"), actions }, ["INSUFFICIENT_FUNDS"])
    },
    /** Reads a player's balance, as the provider or the operator. */
    look: (seat: Seat, who: "provider" | "operator"): Operation => {
      const rest = { seat, headers: {}, intents: [], refusals: [], mustBeRefused: false } as const
      const body = { request_id: "look", player_ref: seat.ref }
      const sent = who === "provider"
        ? { to: who, method: "POST", path: "/api/v1/provider/wallet/balance", body: () => body } as const
        : { to: who, method: "GET", path: `${operatorPath}/${seat.playerId}/wallet`, body: () => undefined } as const
      return { ...rest, ...sent, input: { kind: "look" }, form: "balance" }
    },
    deposit: (seat: Seat, amount: number, isKeyed: boolean): Operation => payment("deposit", seat, amount, isKeyed),
    /** A deposit that an exclusion has to keep out. */
    forbiddenDeposit: (seat: Seat, amount: number): Operation =>
      payment("deposit", seat, amount, false, { refusals: ["PLAYER_RESTRICTED"], mustBeRefused: true }),
    withdrawal: (seat: Seat, amount: number): Operation =>
      payment("withdrawal", seat, amount, false, { refusals: ["INSUFFICIENT_FUNDS"] }),
    /** A move of the withdrawal of this reference, which is this payment. */
    move: (seat: Seat, move: TransitionRequest["move"], reference: string, paymentId: number): Operation => {
      const command = { kind: "move", id: fresh(move), move, reference } as const
      return {
        to: "staff",
        method: "POST",
        path: `/backoffice/v1/payments/${paymentId}/${move}`,
        body: () => ({}),
        headers: {},
        seat,
        intents: [intent(seat, command)],
        input: command,
        refusals: [],
        mustBeRefused: false,
        form: "move"
      }
    },
    limit: (seat: Seat, field: string, value: number): Operation => {
      const command = { kind: "limit", id: fresh("limit"), field, value } as const
      const body = { limits: { [field]: value } }
      return toOperator(`/${seat.playerId}/limits`, seat, command, body, { method: "PUT", form: "limits" })
    },
    /** `nobody`: seat of the player to be registered. */
    registration: (nobody: Seat): Operation => {
      const command = { kind: "registration", id: fresh("guest"), isKeyed: true } as const
      return toOperator("", nobody, command, registration(command.id), { form: "player" })
    },
    /** Until a later day with every call, so that it never weakens an earlier one. */
    exclusion: (seat: Seat, until: string): Operation => {
      const command = { kind: "exclusion", id: fresh("exclusion"), until, isKeyed: true } as const
      const body = { until, type: "self_closure" }
      return toOperator(`/${seat.playerId}/self-exclusion`, seat, command, body, { form: "exclusion" })
    }
  }
}
