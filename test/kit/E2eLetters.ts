/** The messages of journalists, each with what it wants, which refusals it may meet, and how its answer is read. */
import type { DeskMove, Letter, Note, Wanted, WantedOf } from "./E2eJournal.ts"
import { registration, type Seat } from "./E2eWorld.ts"

const walletPath = "/api/v1/provider/wallet"
const operatorPath = "/api/v1/operator/players"

/** The method of withdrawals. */
export const withdrawalMethod = "bank"

const betBody = (seat: Seat, wanted: WantedOf<"bet">) => ({
  transaction_id: wanted.id,
  session_token: seat.token,
  game_id: seat.game.externalId,
  round_id: wanted.roundId,
  amount: wanted.amount,
  currency: "EUR"
})

const winBody = (seat: Seat, wanted: WantedOf<"win">) => ({
  transaction_id: wanted.id,
  player_ref: seat.ref,
  game_id: seat.game.externalId,
  round_id: wanted.roundId,
  bet_transaction_id: wanted.betId,
  amount: wanted.amount,
  currency: "EUR"
})

const rollbackBody = (seat: Seat, wanted: WantedOf<"rollback">) => ({
  transaction_id: wanted.id,
  player_ref: seat.ref,
  target_transaction_id: wanted.targetId
})

/** A note on something that a message of its own is sent for. */
const note = (seat: Seat, wanted: Wanted, action = wanted.id): Note => ({ wanted, seat, action, heard: [] })

const toProvider = (
  path: string,
  seat: Seat,
  notes: ReadonlyArray<Note>,
  body: { readonly [field: string]: unknown },
  refusals: ReadonlyArray<string>,
  form: Letter["form"] = "settlement"
): Letter => ({
  to: "provider",
  method: "POST",
  path: `${walletPath}/${path}`,
  body: (attempt) => ({ request_id: `${notes[0]?.wanted.id ?? "look"}-${attempt}`, ...body }),
  headers: {},
  seat,
  notes,
  refusals,
  mustBeRefused: false,
  form
})

const toOperator = (
  path: string,
  seat: Seat,
  wanted: Wanted,
  body: { readonly [field: string]: unknown },
  rest: Pick<Letter, "form"> & Partial<Letter>
): Letter => ({
  to: "operator",
  method: "POST",
  path: `${operatorPath}${path}`,
  body: () => body,
  headers: "isKeyed" in wanted && wanted.isKeyed ? { "Idempotency-Key": `key-${wanted.id}` } : {},
  seat,
  notes: [note(seat, wanted)],
  refusals: [],
  mustBeRefused: false,
  ...rest
})

const betOf = ({ wanted }: Note): WantedOf<"bet"> => {
  if (wanted.kind !== "bet") throw new Error("no bet")
  return wanted
}

/** The letters of one journalist, who names things after itself. */
export const makeWriter = (name: string) => {
  let names = 0
  const fresh = (what: string): string => `${name}-${what}${++names}`
  const payment = (
    kind: "deposit" | "withdrawal",
    seat: Seat,
    amount: number,
    isKeyed: boolean,
    more: Partial<Letter> = {}
  ): Letter => {
    const wanted = { kind, id: fresh(kind), amount, isKeyed } as const
    const method = kind === "withdrawal" ? { payment_method: withdrawalMethod } : {}
    const body = { amount, external_reference: wanted.id, ...method }
    return toOperator(`/${seat.playerId}/${kind}s`, seat, wanted, body, { form: "payment", ...more })
  }
  return {
    fresh,
    bet: (
      seat: Seat,
      amount: number,
      refusals: ReadonlyArray<string>,
      id = fresh("bet"),
      roundId = fresh("round")
    ): Letter => {
      const wanted = { kind: "bet", id, amount, roundId } as const
      return toProvider("bet", seat, [note(seat, wanted)], betBody(seat, wanted), refusals)
    },
    win: (placed: Note, amount: number): Letter => {
      const { id: betId, roundId } = betOf(placed)
      const { seat } = placed
      const wanted = { kind: "win", id: fresh("win"), amount, roundId, betId } as const
      return toProvider("win", seat, [note(seat, wanted)], winBody(seat, wanted), [])
    },
    betWin: (seat: Seat, amount: number, paid: number): Letter => {
      const placed = { kind: "bet", id: fresh("bet"), amount, roundId: fresh("round") } as const
      const won = { kind: "win", id: fresh("win"), amount: paid, roundId: placed.roundId, betId: placed.id } as const
      return toProvider(
        "bet-win",
        seat,
        [note(seat, placed), note(seat, won, placed.id)],
        { ...betBody(seat, placed), win: { transaction_id: won.id, amount: paid } },
        ["INSUFFICIENT_FUNDS"]
      )
    },
    rollback: (seat: Seat, targetId: string): Letter => {
      const wanted = { kind: "rollback", id: fresh("rollback"), targetId } as const
      return toProvider("rollback", seat, [note(seat, wanted)], rollbackBody(seat, wanted), [])
    },
    promoWin: (seat: Seat, amount: number): Letter => {
      const wanted = { kind: "promo_win", id: fresh("promo"), amount } as const
      const body = {
        transaction_id: wanted.id,
        player_ref: seat.ref,
        amount,
        currency: "EUR",
        kind: "jackpot",
        campaign_id: "friday"
      }
      return toProvider("promo-win", seat, [note(seat, wanted)], body, [])
    },
    /** Two bets on one round and a win on the first. */
    batch: (seat: Seat, amount: number, paid: number): Letter => {
      const roundId = fresh("round")
      const first = { kind: "bet", id: fresh("bet"), amount, roundId } as const
      const second = { kind: "bet", id: fresh("bet"), amount: amount + 1, roundId } as const
      const won = { kind: "win", id: fresh("win"), amount: paid, roundId, betId: first.id } as const
      return toProvider(
        "batch",
        seat,
        [note(seat, first), note(seat, second), note(seat, won)],
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
    look: (seat: Seat, who: "provider" | "operator"): Letter =>
      who === "provider"
        ? toProvider("balance", seat, [], { player_ref: seat.ref }, [], "balance")
        : {
          to: "operator",
          method: "GET",
          path: `${operatorPath}/${seat.playerId}/wallet`,
          body: () => undefined,
          headers: {},
          seat,
          notes: [],
          refusals: [],
          mustBeRefused: false,
          form: "balance"
        },
    deposit: (seat: Seat, amount: number, isKeyed: boolean): Letter => payment("deposit", seat, amount, isKeyed),
    /** A deposit that an exclusion has to keep out. */
    forbiddenDeposit: (seat: Seat, amount: number): Letter =>
      payment("deposit", seat, amount, false, { refusals: ["PLAYER_RESTRICTED"], mustBeRefused: true }),
    withdrawal: (seat: Seat, amount: number): Letter =>
      payment("withdrawal", seat, amount, false, { refusals: ["INSUFFICIENT_FUNDS"] }),
    /** A move of the withdrawal of this reference, which is this payment. */
    move: (seat: Seat, move: DeskMove, reference: string, paymentId: number): Letter => {
      const wanted = { kind: "move", id: fresh(move), move, reference } as const
      return {
        to: "staff",
        method: "POST",
        path: `/backoffice/v1/payments/${paymentId}/${move}`,
        body: () => ({}),
        headers: {},
        seat,
        notes: [note(seat, wanted)],
        refusals: [],
        mustBeRefused: false,
        form: "move"
      }
    },
    limit: (seat: Seat, field: string, value: number): Letter => {
      const wanted = { kind: "limit", id: fresh("limit"), field, value } as const
      const body = { limits: { [field]: value } }
      return toOperator(`/${seat.playerId}/limits`, seat, wanted, body, { method: "PUT", form: "limits" })
    },
    /** `nobody` stands for who is not there yet. */
    registration: (nobody: Seat): Letter => {
      const wanted = { kind: "registration", id: fresh("guest"), isKeyed: true } as const
      return toOperator("", nobody, wanted, registration(wanted.id), { form: "player" })
    },
    /** Until a later day with every call, so that it never weakens an earlier one. */
    exclusion: (seat: Seat, until: string): Letter => {
      const wanted = { kind: "exclusion", id: fresh("exclusion"), until, isKeyed: true } as const
      const body = { until, type: "self_closure" }
      return toOperator(`/${seat.playerId}/self-exclusion`, seat, wanted, body, { form: "exclusion" })
    }
  }
}
