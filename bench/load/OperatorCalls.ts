import type { Job, JobPlayer, OperatorOperation } from "./Job.ts"
import type { Request } from "./Requests.ts"
import { makeSigner, type Signer } from "./Signature.ts"

interface Call {
  readonly operation: OperatorOperation
  readonly method: "GET" | "POST" | "PUT"
  /** Below `/api/v1/operator` or `/api/v1/player`. */
  readonly path: string
  /** Caller: the operator or, with a token, the player. */
  readonly caller?: "player"
  readonly body?: string
  readonly status?: number
  readonly marks: ReadonlyArray<string>
  readonly change?: number
}

const dayMs = 86_400_000
const day = (daysAgo: number): string => new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10)

/** Builds the signed calls of an operator, and those of a player, by joining texts. Every id is unique in the job. */
export class OperatorCalls {
  readonly #job: Job
  readonly #sign: Signer
  readonly #lines: string
  #count = 0

  constructor(job: Job) {
    this.#job = job
    this.#sign = makeSigner(job.operator?.secret ?? "")
    this.#lines = `Host: ${job.host}:${job.port}\r\n`
  }

  /** The next call of its kind, about one of the job's players. */
  next(operation: OperatorOperation, player: number, timestamp: string): Request {
    const id = `${this.#job.idPrefix}-o${(this.#count++).toString(36).padStart(7, "0")}`
    const someone = this.#job.players[player]
    if (someone === undefined) throw new Error(`no player ${player}`)
    const call = this.#call(operation, someone, id)
    const change = call.change ?? 0
    return {
      player,
      operation,
      bytes: this.#bytes(call, someone, timestamp, id),
      status: call.status ?? 200,
      marks: call.marks,
      change,
      least: Math.min(0, change),
      most: Math.max(0, change),
      id
    }
  }

  #call(operation: OperatorOperation, { id: playerId }: JobPlayer, id: string): Call {
    const { slotId, stake } = this.#job
    const of = `/players/${playerId}`
    switch (operation) {
      case "me":
        return { operation, method: "GET", path: "/me", marks: ["\"data\":"] }
      case "player":
        return { operation, method: "GET", path: of, marks: [`"id":${playerId},`] }
      case "players":
        return { operation, method: "GET", path: "/players?per_page=25", marks: ["\"meta\":"] }
      case "wallet":
        return { operation, method: "GET", path: `${of}/wallet`, marks: ["\"balance\":"] }
      case "transactions":
        return { operation, method: "GET", path: `${of}/transactions?per_page=25`, marks: ["\"meta\":"] }
      case "limits":
        return { operation, method: "GET", path: `${of}/limits`, marks: [`"player_id":${playerId},`] }
      case "payments":
        return { operation, method: "GET", path: "/payments?per_page=25", marks: ["\"meta\":"] }
      case "games":
        return { operation, method: "GET", path: "/games", marks: ["\"meta\":"] }
      case "report":
        return { operation, method: "GET", path: `/reports/ggr?from=${day(30)}&to=${day(0)}`, marks: ["\"data\":"] }
      case "player-me":
        return { operation, method: "GET", path: "/me", caller: "player", marks: [`"id":${playerId},`] }
      case "player-wallet":
        return { operation, method: "GET", path: "/wallet", caller: "player", marks: ["\"balance\":"] }
      case "player-transactions":
        return { operation, method: "GET", path: "/transactions?per_page=25", caller: "player", marks: ["\"meta\":"] }
      case "set-limits":
        // lower each time: it applies at once and is written
        return {
          operation,
          method: "PUT",
          path: `${of}/limits`,
          body: `{"limits":{"max_daily_deposit":${1_000_000_000_000 - this.#count}}}`,
          marks: ["\"applied\":[\"max_daily_deposit\"]"]
        }
      case "session-token":
        return {
          operation,
          method: "POST",
          path: `${of}/session-tokens`,
          body: "{\"ttl_minutes\":60}",
          marks: ["\"token\":"],
          status: 201
        }
      case "launch":
        return {
          operation,
          method: "POST",
          path: `${of}/games/${slotId}/launch`,
          body: "{\"mode\":\"real\"}",
          marks: ["\"session_token\":"]
        }
      case "deposit":
        return {
          operation,
          method: "POST",
          path: `${of}/deposits`,
          body: `{"amount":${stake},"external_reference":"${id}","payment_method":"bench"}`,
          marks: ["\"status\":\"paid\"", id],
          status: 201,
          change: stake
        }
      case "withdrawal":
        return {
          operation,
          method: "POST",
          path: `${of}/withdrawals`,
          body: `{"amount":${stake},"external_reference":"${id}","payment_method":"bench"}`,
          marks: ["\"type\":\"withdrawal\"", id],
          status: 201,
          change: -stake
        }
      case "register": {
        const name = id.replaceAll(/[^a-zA-Z0-9]/g, "_")
        return {
          operation,
          method: "POST",
          path: "/players",
          body:
            `{"username":"${name}","email":"${name}@players.example","first_name":"New","last_name":"Player${name}",` +
            `"birth_date":"1990-01-01","country":"MT","terms_accepted":true,"currency":"${this.#job.currency}"}`,
          marks: [name],
          status: 201
        }
      }
    }
  }

  #bytes({ body, caller, method, path }: Call, { bearer }: JobPlayer, timestamp: string, nonce: string): string {
    const uri = `/api/v1/${caller ?? "operator"}${path}`
    const content = body === undefined
      ? ""
      : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
    const signature = () => this.#sign(method, uri, timestamp, `${body ?? ""}\n${nonce}`)
    const credentials = caller === "player"
      ? `Authorization: Bearer ${bearer}\r\n`
      : `X-Api-Key: ${this.#job.operator?.key}\r\nX-Timestamp: ${timestamp}\r\nX-Nonce: ${nonce}\r\nX-Signature: ${signature()}\r\n`
    return `${method} ${uri} HTTP/1.1\r\n${this.#lines}${content}${credentials}\r\n${body ?? ""}`
  }
}
