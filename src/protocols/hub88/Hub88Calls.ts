/** Parses the calls of Hub88's Wallet API, and of Caleta's dialect, into wallet calls. */
import type { Decimal } from "../Decimal.ts"
import { type JsonObject, type JsonValue, readBoolean, readText, readUnits } from "../JsonBody.ts"
import { type PlayerName, type WalletAction, type WalletCall, withEnd } from "../Protocol.ts"
import type { Hub88Dialect, Method } from "./Hub88Dialects.ts"

/** Amounts are integers in hundred-thousandths. */
export const amountScale = 5

/** Missing required field, and wrong type. */
export type FormStatus = "RS_ERROR_WRONG_SYNTAX" | "RS_ERROR_WRONG_TYPES"

/** Reads fields and records the first error. */
class Fields {
  status: FormStatus | undefined
  readonly #body: JsonObject
  constructor(body: JsonObject) {
    this.#body = body
  }

  #has(name: string): boolean {
    return this.#body[name] !== undefined && this.#body[name] !== null
  }

  #read<Value>(name: string, read: (value: JsonValue | undefined) => Value | undefined): Value | undefined {
    const value = read(this.#body[name])
    if (value === undefined && this.#has(name)) this.status ??= "RS_ERROR_WRONG_TYPES"
    return value
  }

  #necessary<Value>(name: string, value: Value | undefined, whenMissing: Value): Value {
    if (!this.#has(name)) this.status ??= "RS_ERROR_WRONG_SYNTAX"
    return value ?? whenMissing
  }

  text(name: string, maxLength = 128): string {
    return this.#necessary(name, this.#read(name, (value) => readText(value, maxLength)), "")
  }

  /** Null when missing or empty. */
  textOrNull(name: string, maxLength = 128): string | null {
    return this.#body[name] === "" ? null : this.#read(name, (value) => readText(value, maxLength)) ?? null
  }

  flag(name: string): boolean {
    return this.#necessary(name, this.flagOrNull(name) ?? undefined, false)
  }

  flagOrNull(name: string): boolean | null {
    return this.#read(name, readBoolean) ?? null
  }

  amount(name: string): Decimal {
    const amount = this.#read(name, (value) => readUnits(value, amountScale))
    return this.#necessary(name, amount, { coefficient: 0, scale: 0 })
  }
}

/** Exceeds all documented tokens: ours are shorter. */
const tokenLength = 512

/** Player of a call. Only bets and queries need a token of ours: a win or rollback is never refused for its token. */
const readPlayer = (fields: Fields, method: Method, { isCaleta }: Hub88Dialect): PlayerName => {
  const token = method === "rollback" ? fields.textOrNull("token", tokenLength) : fields.text("token", tokenLength)
  const ref = isCaleta
    ? fields.textOrNull("supplier_user") ?? fields.textOrNull("user")
    : fields.text("user")
  const isAsked = method === "bet" || method === "balance"
  return {
    ref,
    token: isAsked || ref === null ? token : null,
    transactionId: method === "rollback" ? fields.textOrNull("reference_transaction_uuid") : null
  }
}

const readAction = (
  fields: Fields,
  method: "bet" | "win" | "rollback",
  { isCaleta }: Hub88Dialect
): WalletAction => {
  const transactionId = fields.text("transaction_uuid")
  const closesRound = isCaleta ? fields.flagOrNull("round_closed") ?? false : fields.flag("round_closed")
  if (method === "rollback") {
    return {
      action: "rollback",
      transactionId,
      targetTransactionId: fields.text("reference_transaction_uuid"),
      // Caleta's wins are never rolled back
      onlyBets: isCaleta,
      closesRound
    }
  }
  const isFree = isCaleta ? fields.flagOrNull("is_free") ?? false : fields.flag("is_free")
  const amount = fields.amount("amount")
  return method === "win"
    ? {
      action: "win",
      transactionId,
      betTransactionId: fields.text("reference_transaction_uuid"),
      // Caleta's messages are the same only in the same round
      ...!isCaleta && { ofBet: true },
      amount,
      closesRound
    }
    : { action: "bet", transactionId, amount, isFree, closesRound }
}

const readSettle = (fields: Fields, method: "bet" | "win" | "rollback", dialect: Hub88Dialect): WalletCall => {
  const player = readPlayer(fields, method, dialect)
  // a transaction identifies the player only in the absence of both
  if (player.ref === null && player.token === null && player.transactionId === null) fields.text("user")
  const action = readAction(fields, method, dialect)
  if (!dialect.isCaleta) fields.text("supplier_transaction_id")
  // a rollback names a transaction, which determines the rest
  const isShort = dialect.isCaleta && method === "rollback"
  const roundId = isShort ? fields.textOrNull("round") : fields.text("round")
  const reward = method === "rollback" ? null : fields.textOrNull("reward_uuid")
  return {
    kind: "settle",
    method,
    player,
    gameId: isShort ? fields.textOrNull("game_code") : fields.text("game_code"),
    roundId,
    currency: method === "rollback" ? null : fields.text("currency"),
    session: method === "bet" ? "token" : "none",
    actions: withEnd([action], action.action === "rollback" && action.closesRound === true && roundId !== null),
    ...reward !== null && { grant: { reference: reward, mustExist: false, finishes: false } }
  }
}

const readAsked = (fields: Fields, method: Method, dialect: Hub88Dialect): WalletCall => {
  switch (method) {
    case "info":
      return {
        kind: "identify",
        method,
        player: { ref: fields.text("user"), token: null, transactionId: null },
        exchange: false,
        gameId: null
      }
    case "check":
      return {
        kind: "identify",
        method,
        player: { ref: null, token: fields.text("token", tokenLength), transactionId: null },
        exchange: true,
        gameId: null
      }
    case "balance":
      return {
        kind: "balance",
        method,
        player: readPlayer(fields, method, dialect),
        gameId: dialect.isCaleta ? fields.textOrNull("game_code") : fields.text("game_code"),
        currency: null,
        // a token is invalid that never was one; expiry is for bets only
        ...dialect.isCaleta && { mayBeOver: true }
      }
    default:
      return readSettle(fields, method, dialect)
  }
}

/** Request of a call to the wallet, or its validation error. */
export const readCall = (method: Method, body: JsonObject, dialect: Hub88Dialect): WalletCall | FormStatus => {
  const fields = new Fields(body)
  const call = readAsked(fields, method, dialect)
  // a check has no field but the token
  if (method !== "check") fields.text("request_uuid")
  return fields.status ?? call
}
