/** What distinguishes the protocols of vendors, for tests that hold for all of them. A protocol, and a dialect of one, is one row. */
import type { PlayerName, SettleCall, WalletCall } from "../../src/protocols/Protocol.ts"

/** States of an account that refuse a bet. */
export const accountStates = ["locked", "closed", "excluded", "limited", "ended"] as const

export type AccountState = typeof accountStates[number]

/** The kinds of messages that ask the wallet. */
export type AskingKind = "authenticate" | "balance" | "bet" | "win" | "rollback" | "promo" | "close" | "bet_win"

export interface ProtocolRow {
  /** The wallet's call for each message of {@link rowMessages}. Kinds that are not there the protocol does not have, or answers itself. */
  readonly calls: { readonly [kind in AskingKind]?: WalletCall }
  /** What a bet is answered, by the state of the account. */
  readonly refusals: { readonly [state in AccountState]: string }
  /** What the vendor has besides launches. */
  readonly offers: {
    readonly catalogue: boolean
    readonly demo: boolean
    readonly freeRounds: boolean
    readonly feed: boolean
  }
}

/** The session of the rows. */
export const rowSession = { token: "a-token-of-the-session", playerRef: "1018", currency: "EUR", gameId: "table" }

const about = { roundId: "r1", gameId: rowSession.gameId }
const bet = { ...about, kind: "bet", id: "17", amount: { coefficient: 105, scale: 1 }, grant: null } as const
const win = {
  ...about,
  kind: "win",
  id: "18",
  bet,
  amount: { coefficient: 25, scale: 0 },
  closes: true,
  grant: null
} as const

/** A message of each kind: a bet of 10.50 that wins 25, is taken back, and a prize of 5. */
export const rowMessages = {
  authenticate: { kind: "authenticate" },
  balance: { kind: "balance" },
  bet,
  win,
  rollback: { ...about, kind: "rollback", id: "19", bet },
  promo: { ...about, kind: "promo", id: "20", amount: { coefficient: 5, scale: 0 }, grant: null },
  close: { ...about, kind: "close" },
  bet_win: { kind: "bet_win", bet, win }
} as const

const [stake, payout, prize] = [bet.amount, win.amount, rowMessages.promo.amount]

const byRef: PlayerName = { ref: rowSession.playerRef, token: null, transactionId: null }
const byToken: PlayerName = { ref: null, token: rowSession.token, transactionId: null }
const byBoth: PlayerName = { ref: rowSession.playerRef, token: rowSession.token, transactionId: null }

/** A call that settles, under no session, where it says nothing else. */
const settle = (
  method: string,
  actions: SettleCall["actions"],
  more: Partial<Omit<SettleCall, "kind" | "method" | "actions">> = {}
): SettleCall => ({
  kind: "settle",
  method,
  player: byRef,
  gameId: "table",
  roundId: "r1",
  currency: "EUR",
  session: "none",
  actions,
  ...more
})

const underToken = { player: byBoth, session: "token" } as const

const closing = { action: "close_round" } as const

/** Hub88's calls; Caleta names the player of some otherwise. */
const hub88Calls: ProtocolRow["calls"] = {
  authenticate: { kind: "identify", method: "info", player: byRef, exchange: false, gameId: null },
  balance: { kind: "balance", method: "balance", player: byBoth, gameId: "table", currency: null },
  bet: settle("bet", [
    { action: "bet", transactionId: "17", amount: stake, isFree: false, closesRound: false }
  ], underToken),
  win: settle("win", [
    { action: "win", transactionId: "18", betTransactionId: "17", ofBet: true, amount: payout, closesRound: true }
  ]),
  rollback: settle("rollback", [
    { action: "rollback", transactionId: "19", targetTransactionId: "17", onlyBets: false, closesRound: false }
  ], { player: { ...byRef, transactionId: "17" }, currency: null })
}

const caletaCalls: ProtocolRow["calls"] = {
  ...hub88Calls,
  authenticate: { kind: "identify", method: "check", player: byToken, exchange: true, gameId: null },
  balance: { kind: "balance", method: "balance", player: byBoth, gameId: "table", currency: null, mayBeOver: true },
  win: settle("win", [
    { action: "win", transactionId: "18", betTransactionId: "17", amount: payout, closesRound: true }
  ]),
  rollback: settle("rollback", [
    { action: "rollback", transactionId: "19", targetTransactionId: "17", onlyBets: true, closesRound: false }
  ], { player: { ...byToken, transactionId: "17" }, currency: null })
}

const pragmaticRound = "36859932357024875"

const pragmaticCalls: ProtocolRow["calls"] = {
  authenticate: { kind: "identify", method: "authenticate", player: byToken, exchange: false, gameId: "table" },
  balance: { kind: "balance", method: "balance", player: byRef, gameId: null, currency: null },
  bet: settle("bet", [
    { action: "bet", transactionId: "bet:17", amount: stake, closesRound: false }
  ], { ...underToken, roundId: pragmaticRound, currency: null }),
  win: settle("result", [
    { action: "win", transactionId: "win:18", betTransactionId: null, amount: payout, closesRound: false }
  ], { roundId: pragmaticRound, currency: null }),
  rollback: settle("refund", [
    { action: "rollback", transactionId: "refund:17", targetTransactionId: "bet:17", closesRound: false }
  ], { gameId: null, roundId: null, currency: null }),
  promo: settle("promoWin", [
    { action: "promo_win", transactionId: "promo:20", kind: "tournament", campaignId: "7001", amount: prize }
  ], { gameId: null, roundId: null }),
  close: settle("endRound", [closing], { roundId: pragmaticRound, currency: null })
}

const slotegratorCalls: ProtocolRow["calls"] = {
  balance: { kind: "balance", method: "balance", player: byRef, gameId: null, currency: "EUR" },
  bet: settle("bet", [
    { action: "bet", transactionId: "17", amount: stake, isFree: false, closesRound: false }
  ], underToken),
  win: settle("win", [
    { action: "win", transactionId: "18", betTransactionId: null, amount: payout, closesRound: true }
  ]),
  rollback: settle("rollback", [
    {
      action: "rollback",
      transactionId: "rollback:17",
      targetTransactionId: "17",
      idPrefix: "rollback:",
      closesRound: false
    }
  ], { roundId: null }),
  promo: settle("win", [
    { action: "promo_win", transactionId: "20", kind: "cash_drop", campaignId: "prize_drop:20", amount: prize }
  ], { roundId: null })
}

const a8rBet = { action: "bet", transactionId: "17", amount: stake, closesRound: false } as const
const a8rWin = {
  action: "win",
  transactionId: "18",
  betTransactionId: null,
  amount: payout,
  closesRound: true
} as const
const takenBack = { action: "rollback", transactionId: "19", targetTransactionId: "17", closesRound: false } as const

const a8rCalls: ProtocolRow["calls"] = {
  balance: { kind: "balance", method: "Player/Balance", player: byRef, gameId: null, currency: "EUR" },
  bet: settle("Round/BetWin", [a8rBet]),
  win: settle("Round/BetWin", [a8rWin, closing]),
  bet_win: settle("Round/BetWin", [a8rBet, a8rWin, closing]),
  rollback: settle("Round/Rollback", [takenBack]),
  close: settle("Round/Finish", [closing], { gameId: null })
}

// amounts are subunits
const gcpBet = { ...a8rBet, amount: { minor: 1050 } }
const gcpWin = { ...a8rWin, amount: { minor: 2500 } }

const gcpCalls: ProtocolRow["calls"] = {
  balance: { kind: "balance", method: "play", player: byRef, gameId: "table", currency: "EUR" },
  bet: settle("play", [gcpBet]),
  win: settle("play", [gcpWin, closing]),
  bet_win: settle("play", [gcpBet, gcpWin, closing]),
  rollback: settle("rollback", [takenBack]),
  close: settle("play", [closing])
}

const evolutionCalls: ProtocolRow["calls"] = {
  authenticate: { kind: "identify", method: "check", player: byBoth, exchange: true, gameId: null },
  balance: { kind: "balance", method: "balance", player: byBoth, gameId: "table", currency: "EUR" },
  bet: settle("debit", [
    { action: "bet", transactionId: "debit:1018:r1:17", amount: stake, closesRound: "when_settled" }
  ], underToken),
  win: settle("credit", [
    {
      action: "win",
      transactionId: "settle:1018:r1:17",
      betTransactionId: "debit:1018:r1:17",
      ofBet: true,
      amount: payout,
      closesRound: "when_settled"
    }
  ], { player: byBoth }),
  rollback: settle("cancel", [
    {
      action: "rollback",
      transactionId: "settle:1018:r1:17",
      targetTransactionId: "debit:1018:r1:17",
      closesRound: "when_settled"
    }
  ], { player: byBoth }),
  promo: settle("promo_payout", [
    { action: "promo_win", transactionId: "promo:1018:20", kind: "jackpot", campaignId: "JACKPOT", amount: prize }
  ], { player: byBoth, roundId: null })
}

const spribeCalls: ProtocolRow["calls"] = {
  authenticate: { kind: "identify", method: "auth", player: byToken, exchange: false, gameId: null },
  balance: { kind: "balance", method: "info", player: byRef, gameId: null, currency: "EUR" },
  bet: settle("withdraw", [
    { action: "bet", transactionId: "tx:17", amount: stake, closesRound: false }
  ], { roundId: "17" }),
  win: settle("deposit", [
    {
      action: "win",
      transactionId: "tx:18",
      betTransactionId: "tx:17",
      amount: payout,
      closesRound: "when_settled"
    }
  ], { roundId: "17" }),
  rollback: settle("rollback", [
    { action: "rollback", transactionId: "rollback:17", targetTransactionId: "tx:17", closesRound: "when_settled" }
  ], { roundId: null, currency: null }),
  promo: settle("deposit", [
    {
      action: "promo_win",
      transactionId: "tx:20",
      kind: "tournament",
      campaignId: "challengeprizemoney",
      amount: prize
    }
  ], { roundId: null })
}

const ownBet = { action: "bet", transactionId: "17", amount: { minor: 1050 }, closesRound: false } as const
const ownWin = {
  action: "win",
  transactionId: "18",
  betTransactionId: "17",
  amount: { minor: 2500 },
  closesRound: true
} as const

/** Pitboss's own calls, which are read from a head and a body. */
export const ownCalls: ProtocolRow["calls"] = {
  authenticate: { kind: "session", method: "authenticate", player: byToken },
  balance: { kind: "balance", method: "balance", player: byRef, gameId: null, currency: null, ofWallets: true },
  bet: settle("bet", [ownBet], { player: byToken, session: "token" }),
  win: settle("win", [ownWin], { session: "token" }),
  bet_win: settle("bet-win", [ownBet, ownWin], { player: byToken, session: "token", isOne: true }),
  rollback: settle("rollback", [takenBack], { gameId: null, roundId: null, currency: null }),
  promo: settle("promo-win", [
    { action: "promo_win", transactionId: "20", kind: "jackpot", campaignId: "friday", amount: { minor: 500 } }
  ], { gameId: null, roundId: null }),
  close: settle("round/close", [closing], { currency: null })
}

/** One word for an account that may not play. */
const refusing = (account: string, limited: string, ended: string): ProtocolRow["refusals"] => ({
  locked: account,
  closed: account,
  excluded: account,
  limited,
  ended
})

const everything = { catalogue: true, demo: true, freeRounds: true, feed: true }
const nothing = { catalogue: false, demo: false, freeRounds: false, feed: false }

/** By the names of `scripts/simulators/Samples.ts`. */
export const protocolRows: { readonly [sample: string]: ProtocolRow } = {
  hub88: {
    calls: hub88Calls,
    refusals: refusing("RS_ERROR_USER_DISABLED", "RS_ERROR_LIMIT_REACHED", "RS_ERROR_TOKEN_EXPIRED"),
    offers: everything
  },
  caleta: {
    calls: caletaCalls,
    refusals: refusing("RS_ERROR_USER_DISABLED", "RS_ERROR_BET_LIMIT_EXCEEDED", "RS_ERROR_TOKEN_EXPIRED"),
    offers: everything
  },
  pragmatic: { calls: pragmaticCalls, refusals: refusing("6", "50", "4"), offers: everything },
  slotegrator: {
    calls: slotegratorCalls,
    refusals: refusing("INTERNAL_ERROR", "INTERNAL_ERROR", "INTERNAL_ERROR"),
    offers: { ...everything, feed: false }
  },
  a8r: { calls: a8rCalls, refusals: refusing("110", "105", "101"), offers: { ...everything, feed: false } },
  gcp: {
    calls: gcpCalls,
    refusals: refusing("110", "105", "101"),
    offers: { ...everything, catalogue: false, feed: false }
  },
  evolution: {
    calls: evolutionCalls,
    refusals: refusing("ACCOUNT_LOCKED", "CASINO_LIMIT_EXCEEDED_STAKE", "INVALID_SID"),
    offers: nothing
  },
  spribe: { calls: spribeCalls, refusals: refusing("405", "405", "401"), offers: nothing }
}
