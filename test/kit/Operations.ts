/** Operations of clients: their requests, the intents and permitted refusals of each, and the form of its answer. */
import type { DeskMove, Operation, Intent, Command, CommandOf } from "./History.ts"
import { registration, type Seat } from "./E2eWorld.ts"

const walletPath = "/api/v1/provider/wallet"
const operatorPath = "/api/v1/operator/players"

/** The method of withdrawals. */
export const withdrawalMethod = "bank"

const betBody = (seat: Seat, command: CommandOf<"bet">) => ({
  transaction_id: command.id,
  session_token: seat.token,
  game_id: seat.game.externalId,
  round_id: command.roundId,
  amount: command.amount,
  currency: "EUR"
})

const winBody = (seat: Seat, command: CommandOf<"win">) => ({
  transaction_id: command.id,
  player_ref: seat.ref,
  game_id: seat.game.externalId,
  round_id: command.roundId,
  bet_transaction_id: command.betId,
  amount: command.amount,
  currency: "EUR"
})

const rollbackBody = (seat: Seat, command: CommandOf<"rollback">) => ({
  transaction_id: command.id,
  player_ref: seat.ref,
  target_transaction_id: command.targetId
})

/** A intent on something that a message of its own is sent for. */
const intent = (seat: Seat, command: Command, action = command.id): Intent => ({ command, seat, action, outcomes: [] })

const toProvider = (
  path: string,
  seat: Seat,
  intents: ReadonlyArray<Intent>,
  body: { readonly [field: string]: unknown },
  refusals: ReadonlyArray<string>,
  form: Operation["form"] = "settlement"
): Operation => ({
  to: "provider",
  method: "POST",
  path: `${walletPath}/${path}`,
  body: (attempt) => ({ request_id: `${intents[0]?.command.id ?? "look"}-${attempt}`, ...body }),
  headers: {},
  seat,
  intents,
  refusals,
  mustBeRefused: false,
  form
})

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
  refusals: [],
  mustBeRefused: false,
  ...rest
})

const betOf = ({ command }: Intent): CommandOf<"bet"> => {
  if (command.kind !== "bet") throw new Error("no bet")
  return command
}

/** The operations of one client, who names things after itself. */
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
  return {
    fresh,
    bet: (
      seat: Seat,
      amount: number,
      refusals: ReadonlyArray<string>,
      id = fresh("bet"),
      roundId = fresh("round")
    ): Operation => {
      const command = { kind: "bet", id, amount, roundId } as const
      return toProvider("bet", seat, [intent(seat, command)], betBody(seat, command), refusals)
    },
    win: (placed: Intent, amount: number): Operation => {
      const { id: betId, roundId } = betOf(placed)
      const { seat } = placed
      const command = { kind: "win", id: fresh("win"), amount, roundId, betId } as const
      return toProvider("win", seat, [intent(seat, command)], winBody(seat, command), [])
    },
    betWin: (seat: Seat, amount: number, paid: number): Operation => {
      const placed = { kind: "bet", id: fresh("bet"), amount, roundId: fresh("round") } as const
      const won = { kind: "win", id: fresh("win"), amount: paid, roundId: placed.roundId, betId: placed.id } as const
      return toProvider(
        "bet-win",
        seat,
        [intent(seat, placed), intent(seat, won, placed.id)],
        { ...betBody(seat, placed), win: { transaction_id: won.id, amount: paid } },
        ["INSUFFICIENT_FUNDS"]
      )
    },
    rollback: (seat: Seat, targetId: string): Operation => {
      const command = { kind: "rollback", id: fresh("rollback"), targetId } as const
      return toProvider("rollback", seat, [intent(seat, command)], rollbackBody(seat, command), [])
    },
    promoWin: (seat: Seat, amount: number): Operation => {
      const command = { kind: "promo_win", id: fresh("promo"), amount } as const
      const body = {
        transaction_id: command.id,
        player_ref: seat.ref,
        amount,
        currency: "EUR",
        kind: "jackpot",
        campaign_id: "friday"
      }
      return toProvider("promo-win", seat, [intent(seat, command)], body, [])
    },
    /** Two bets on one round and a win on the first. */
    batch: (seat: Seat, amount: number, paid: number): Operation => {
      const roundId = fresh("round")
      const first = { kind: "bet", id: fresh("bet"), amount, roundId } as const
      const second = { kind: "bet", id: fresh("bet"), amount: amount + 1, roundId } as const
      const won = { kind: "win", id: fresh("win"), amount: paid, roundId, betId: first.id } as const
      return toProvider(
        "batch",
        seat,
        [intent(seat, first), intent(seat, second), intent(seat, won)],
        {
          actions: [
            { action: "bet", ...betBody(seat, first) },
            { action: "bet", ...betBody(seat, second) },
            { action: "win", ...winBody(seat, won) }
          ]
        },
        ["INSUFFICIENT_FUNDS"],
        "batch"
      )
    },
    /** What a player has, asked by the provider or the operator. */
    look: (seat: Seat, who: "provider" | "operator"): Operation =>
      who === "provider"
        ? toProvider("balance", seat, [], { player_ref: seat.ref }, [], "balance")
        : {
          to: "operator",
          method: "GET",
          path: `${operatorPath}/${seat.playerId}/wallet`,
          body: () => undefined,
          headers: {},
          seat,
          intents: [],
          refusals: [],
          mustBeRefused: false,
          form: "balance"
        },
    deposit: (seat: Seat, amount: number, isKeyed: boolean): Operation => payment("deposit", seat, amount, isKeyed),
    /** A deposit that an exclusion has to keep out. */
    forbiddenDeposit: (seat: Seat, amount: number): Operation =>
      payment("deposit", seat, amount, false, { refusals: ["PLAYER_RESTRICTED"], mustBeRefused: true }),
    withdrawal: (seat: Seat, amount: number): Operation =>
      payment("withdrawal", seat, amount, false, { refusals: ["INSUFFICIENT_FUNDS"] }),
    /** A move of the withdrawal of this reference, which is this payment. */
    move: (seat: Seat, move: DeskMove, reference: string, paymentId: number): Operation => {
      const command = { kind: "move", id: fresh(move), move, reference } as const
      return {
        to: "staff",
        method: "POST",
        path: `/backoffice/v1/payments/${paymentId}/${move}`,
        body: () => ({}),
        headers: {},
        seat,
        intents: [intent(seat, command)],
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
    /** `nobody` stands for who is not there yet. */
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
