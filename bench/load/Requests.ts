import type { Job, JobPlayer } from "./Job.ts"
import { makeSigner, type Signer } from "./Signature.ts"

/** One request, ready to be written to a connection, and how to tell that it was answered. */
export interface Request {
  /** Index among the players of the job. */
  readonly player: number
  readonly operation: string
  /** The whole HTTP request; ASCII. */
  readonly bytes: string
  /** The status of success, and texts that only the answer to this very request holds. */
  readonly status: number
  readonly marks: ReadonlyArray<string>
  /** Change of the player's real balance on success, minor units; null when given by the answer. */
  readonly change: number | null
  /** Minimum and maximum change while the outcome is unknown. */
  readonly least: number
  readonly most: number
  /** Transaction id, for later messages. */
  readonly id: string
}

/** Selects the next request of each connection. `lane`: number of the connection; the request may depend on its last answer. */
export interface Traffic {
  readonly next: (lane: number, timestamp: string) => Request
  /** Reports the outcome of the connection's last request. */
  readonly ended: (lane: number, request: Request, processed: boolean) => void
}

/** Stake limit of limited players, above every balance; minor units. */
export const stakeLimit = 1_000_000
const beyondFunds = 1_000_000_000_000

const providerBase = "/api/v1/provider/wallet"
const processed = "\"status\":\"processed\""

const isAscii = (text: string): boolean => Buffer.byteLength(text, "utf8") === text.length

/**
 * Builds signed requests by joining texts, about 5 µs each. An id is of fixed width and unique in the job: seven digits of
 * base 36 are 78 billion.
 */
export class Requests {
  readonly #job: Job
  readonly #sign: Signer
  readonly #lines: string
  #count = 0

  constructor(job: Job) {
    this.#job = job
    this.#sign = makeSigner(job.secret)
    this.#lines = `Host: ${job.host}:${job.port}\r\nContent-Type: application/json\r\n`
    // The length in characters is sent as the length in bytes.
    const texts = job.players.flatMap((
      { bearer = "", playerRef = "", sessionToken }
    ) => [bearer, playerRef, sessionToken])
    for (
      const text of [job.idPrefix, job.gameId, job.slotId, job.currency, job.key, job.operator?.key ?? "", ...texts]
    ) {
      if (!isAscii(text)) throw new Error(`not ASCII: ${text}`)
      if (/["\\]/.test(text)) throw new Error(`needs escaping: ${text}`)
    }
  }

  /** The next request's id. */
  #nextId(): string {
    return `${this.#job.idPrefix}-${(this.#count++).toString(36).padStart(7, "0")}`
  }

  #player(index: number): JobPlayer {
    const player = this.#job.players[index]
    if (player === undefined) throw new Error(`no player ${index}`)
    return player
  }

  #provider(path: string, timestamp: string, body: string): string {
    const uri = `${providerBase}${path}`
    return `POST ${uri} HTTP/1.1\r\n${this.#lines}Content-Length: ${body.length}\r\nX-Provider-Key: ${this.#job.key}\r\n` +
      `X-Timestamp: ${timestamp}\r\nX-Signature: ${this.#sign("POST", uri, timestamp, body)}\r\n\r\n${body}`
  }

  #betFields(player: number, id: string, stake = this.#job.stake): string {
    const { currency, gameId } = this.#job
    return `"request_id":"q-${id}","transaction_id":"${id}","round_id":"r-${id}","session_token":"${
      this.#player(player).sessionToken
    }","game_id":"${gameId}","amount":${stake},"currency":"${currency}"`
  }

  /** A call of the provider that moves an amount of the player's balance, whether that is acknowledged or not. */
  #move(
    operation: string,
    timestamp: string,
    player: number,
    { body, change, id }: { readonly body: string; readonly change: number; readonly id: string }
  ): Request {
    return {
      player,
      operation,
      bytes: this.#provider(`/${operation}`, timestamp, body),
      status: 200,
      marks: [processed, id],
      change,
      least: Math.min(0, change),
      most: Math.max(0, change),
      id
    }
  }

  /** A stake, in a round of its own. */
  bet(player: number, timestamp: string): Request {
    const id = this.#nextId()
    return this.#move("bet", timestamp, player, {
      body: `{${this.#betFields(player, id)}}`,
      change: -this.#job.stake,
      id
    })
  }

  /** A stake and its win in one call, the round closed with it. */
  betWin(player: number, timestamp: string, win: number): Request {
    const id = this.#nextId()
    const change = win - this.#job.stake
    const body = `{${
      this.#betFields(player, id)
    },"win":{"transaction_id":"w-${id}","amount":${win}},"round_closed":true}`
    return this.#move("bet-win", timestamp, player, { body, change, id })
  }

  #winFields(player: number, id: string, betId: string, amount: number): string {
    const { currency, gameId } = this.#job
    return `"request_id":"q-${id}","transaction_id":"${id}","player_ref":"${
      this.#player(player).playerRef
    }","game_id":"${gameId}","round_id":"r-${betId}","bet_transaction_id":"${betId}","amount":${amount},"currency":"${currency}"`
  }

  /** The win of a bet, which closes its round. */
  win(player: number, timestamp: string, betId: string, amount: number): Request {
    const id = this.#nextId()
    const body = `{${this.#winFields(player, id, betId, amount)},"round_closed":true}`
    return this.#move("win", timestamp, player, { body, change: amount, id })
  }

  /** Takes a bet back. */
  rollback(player: number, timestamp: string, betId: string): Request {
    const id = this.#nextId()
    const body = `{"request_id":"q-${id}","transaction_id":"${id}","player_ref":"${
      this.#player(player).playerRef
    }","target_transaction_id":"${betId}"}`
    return this.#move("rollback", timestamp, player, { body, change: this.#job.stake, id })
  }

  /** Authenticates a session or reads a balance, without moving money. */
  ask(operation: "authenticate" | "balance", player: number, timestamp: string): Request {
    const body = `{"session_token":"${this.#player(player).sessionToken}"}`
    return {
      player,
      operation,
      bytes: this.#provider(`/${operation}`, timestamp, body),
      status: 200,
      marks: ["\"bonus_balance\":"],
      change: 0,
      least: 0,
      most: 0,
      id: ""
    }
  }

  /** The same bet again, which was settled before: answered as it was then. */
  retry(player: number, timestamp: string, betId: string): Request {
    return {
      ...this.#move("bet", timestamp, player, { body: `{${this.#betFields(player, betId)}}`, change: 0, id: betId }),
      operation: "retry",
      marks: ["\"status\":\"replayed\"", betId]
    }
  }

  /** A stake that must be refused: more than the player may stake at once, or more than the player has. */
  refusedBet(player: number, timestamp: string, refusal: "LIMIT_EXCEEDED" | "INSUFFICIENT_FUNDS"): Request {
    const id = this.#nextId()
    const amount = refusal === "LIMIT_EXCEEDED" ? stakeLimit + 1 : beyondFunds
    return {
      player,
      operation: refusal === "LIMIT_EXCEEDED" ? "refused: limit" : "refused: funds",
      bytes: this.#provider("/bet", timestamp, `{${this.#betFields(player, id, amount)}}`),
      status: refusal === "LIMIT_EXCEEDED" ? 422 : 402,
      marks: [refusal],
      change: 0,
      least: -amount,
      most: 0,
      id
    }
  }

  /** A stake and its win as one batch. */
  batch(player: number, timestamp: string, win: number): Request {
    const id = this.#nextId()
    const body = `{"request_id":"b-${id}","actions":[{"action":"bet",${this.#betFields(player, id)}},{"action":"win",${
      this.#winFields(player, `w-${id}`, id, win)
    },"round_closed":true}]}`
    return this.#move("batch", timestamp, player, { body, change: win - this.#job.stake, id: `w-${id}` })
  }

  /** Round of an original, with the outcome in the answer. A coin pays less than twice its stake. */
  play(player: number): Request {
    const { originalId, stake } = this.#job
    const body = `{"stake":${stake},"params":{"side":"heads"}}`
    return {
      player,
      operation: "play",
      bytes:
        `POST /api/v1/player/games/${originalId}/play HTTP/1.1\r\n${this.#lines}Content-Length: ${body.length}\r\n` +
        `Authorization: Bearer ${this.#player(player).bearer}\r\n\r\n${body}`,
      status: 200,
      marks: [`"stake":${stake},`, "\"payout\":"],
      change: null,
      least: -stake,
      most: stake,
      id: ""
    }
  }
}

const payoutPattern = /"payout":(\d+)/

/** Change of the balance by a processed request. */
export const changeOf = (request: Request, body: string): number => {
  if (request.change !== null) return request.change
  return Number(payoutPattern.exec(body)?.[1] ?? Number.NaN) + request.least
}
