import type { Histogram } from "hdr-histogram-js"
import { connect, type Socket } from "node:net"
import { type BetRequest, BetRequests } from "./BetRequests.ts"
import type { Job, JobResult } from "./Job.ts"
import { encodeHistogram, makeHistogram } from "./Latency.ts"
import { PlayerPicker } from "./PlayerPicker.ts"
import { type Response, ResponseReader } from "./ResponseReader.ts"

/** Called as a job goes on. */
export interface LoadRunHooks {
  readonly measuring: () => void
  readonly measured: () => void
  /** Twice a second: bets processed and failed so far, warm-up included. */
  readonly progress: (processed: number, errors: number) => void
}

/** A connection and the one request that may be under way on it. */
interface Lane {
  socket: Socket | undefined
  reader: ResponseReader
  request: BetRequest | undefined
  intendedAt: number
  sentAt: number
}

/** Reconnects allowed in one job, per connection: a target that refuses them all must not keep the generator busy. */
const reconnectsPerConnection = 20
const reconnectDelayMs = 50

/**
 * One job of the load generator.
 *
 * Closed loop: every connection sends its next bet when it is answered, so the rate is what the target sustains.
 * Open loop: bets are due at a fixed rate whatever the target does, and latency counts from the moment a bet was due,
 * not from when a connection was free to send it. Bets are due on whole milliseconds because timers are no finer;
 * what is due waits for a free connection, and what could not be sent by the end is counted as unsent with the time
 * it waited so far. All times are milliseconds of `performance.now()`.
 */
export class LoadRun {
  /** Settles when every answer has come or timed out; rejects when the target cannot be reached. */
  readonly result: Promise<JobResult>

  readonly #job: Job
  readonly #hooks: LoadRunHooks
  readonly #requests: BetRequests
  readonly #players: PlayerPicker
  readonly #lanes: Array<Lane> = []
  readonly #idle: Array<Lane> = []
  readonly #latency: Histogram = makeHistogram()
  readonly #sendDelay: Histogram = makeHistogram()
  readonly #errors = new Map<string, number>()
  readonly #acknowledged: Float64Array
  readonly #unknown: Float64Array
  readonly #timers: Array<NodeJS.Timeout> = []
  readonly #settle: { readonly resolve: (result: JobResult) => void; readonly reject: (error: Error) => void }

  #measureFrom = 0
  #measureTo = 0
  #processed = 0
  #processedEver = 0
  #failedEver = 0
  /** Open loop: how many bets were sent or given up, in the order in which they are due. */
  #arrivals = 0
  #reconnects: number
  #stopping = false
  #ended = false

  constructor(job: Job, hooks: LoadRunHooks) {
    this.#job = job
    this.#hooks = hooks
    this.#requests = new BetRequests(job)
    this.#players = new PlayerPicker(job.sessionTokens.length, job.seed)
    this.#acknowledged = new Float64Array(job.sessionTokens.length)
    this.#unknown = new Float64Array(job.sessionTokens.length)
    this.#reconnects = job.connections * reconnectsPerConnection
    const { promise, resolve, reject } = Promise.withResolvers<JobResult>()
    this.result = promise
    this.#settle = { resolve, reject }
    this.#start()
  }

  #start(): void {
    let waiting = this.#job.connections
    for (let index = 0; index < this.#job.connections; index++) {
      const lane: Lane = {
        socket: undefined,
        reader: new ResponseReader(),
        request: undefined,
        intendedAt: 0,
        sentAt: 0
      }
      this.#lanes.push(lane)
      this.#open(lane, () => {
        waiting -= 1
        if (waiting === 0) this.#begin()
      })
    }
    this.#after(this.#job.timeoutMs, () => {
      if (waiting > 0) this.#fail(`${waiting} of ${this.#job.connections} connections could not be opened`)
    })
  }

  #begin(): void {
    const { measuredSeconds, ratePerSecond, warmUpSeconds } = this.#job
    const now = performance.now()
    this.#measureFrom = now + warmUpSeconds * 1000
    this.#measureTo = this.#measureFrom + measuredSeconds * 1000
    this.#after(this.#measureFrom - now, this.#hooks.measuring)
    this.#after(this.#measureTo - now, () => {
      this.#hooks.measured()
      this.#stop()
    })
    this.#every(500, () => this.#hooks.progress(this.#processedEver, this.#failedEver))
    this.#every(100, () => this.#expire())
    if (ratePerSecond === null) {
      for (const lane of this.#lanes) this.#send(lane, performance.now())
    } else {
      for (const lane of this.#lanes) this.#idle.push(lane)
      this.#every(1, () => this.#dispatch())
    }
  }

  /** The moment at which the open loop's bet number `arrival` is due. */
  #dueAt(arrival: number, ratePerSecond: number): number {
    return this.#measureFrom - this.#job.warmUpSeconds * 1000 + Math.floor(arrival * 1000 / ratePerSecond)
  }

  /** Sends what is due while there are free connections. */
  #dispatch(): void {
    for (let lane = this.#idle.pop(); lane !== undefined; lane = this.#idle.pop()) {
      const dueAt = this.#nextDue(performance.now())
      if (dueAt === undefined) {
        this.#idle.push(lane)
        return
      }
      this.#arrivals += 1
      this.#send(lane, dueAt)
    }
  }

  #nextDue(now: number): number | undefined {
    const rate = this.#job.ratePerSecond
    if (rate === null) return undefined
    const dueAt = this.#dueAt(this.#arrivals, rate)
    return dueAt <= now && dueAt < this.#measureTo ? dueAt : undefined
  }

  #send(lane: Lane, intendedAt: number): void {
    if (lane.socket === undefined) return
    const request = this.#requests.next(this.#players.next(), Math.floor(Date.now() / 1000).toString())
    lane.request = request
    lane.intendedAt = intendedAt
    lane.sentAt = performance.now()
    lane.socket.write(request.bytes, "latin1")
    if (intendedAt >= this.#measureFrom) this.#sendDelay.recordValue(micros(lane.sentAt - intendedAt))
  }

  /** The connection is free: closed loop sends at once, open loop when something is due. */
  #next(lane: Lane): void {
    if (this.#job.ratePerSecond === null) {
      if (this.#stopping) this.#endWhenQuiet()
      else this.#send(lane, performance.now())
      return
    }
    this.#idle.push(lane)
    this.#dispatch()
    if (this.#stopping) this.#endWhenQuiet()
  }

  #open(lane: Lane, opened: () => void): void {
    const buffer = Buffer.allocUnsafe(4096)
    const socket = connect({
      host: this.#job.host,
      port: this.#job.port,
      noDelay: true,
      onread: {
        buffer,
        callback: (length) => {
          if (lane.socket === socket) this.#receive(lane, buffer.toString("latin1", 0, length))
          return true
        }
      }
    })
    socket.once("connect", () => {
      lane.socket = socket
      lane.reader = new ResponseReader()
      opened()
    })
    // "close" follows every error and says what has to be done.
    socket.on("error", () => {})
    socket.once("close", () => this.#closed(lane, socket, opened))
  }

  #closed(lane: Lane, socket: Socket, opened: () => void): void {
    if (this.#ended) return
    if (lane.socket === socket) {
      lane.socket = undefined
      // Once open, the lane has begun: after a reconnect it goes on by itself.
      opened = () => this.#next(lane)
      const idle = this.#idle.indexOf(lane)
      if (idle >= 0) this.#idle.splice(idle, 1)
      if (lane.request !== undefined) {
        this.#unknownOutcome(lane.request)
        lane.request = undefined
        this.#count("DISCONNECTED")
      }
      if (this.#stopping) return this.#endWhenQuiet()
    }
    this.#reconnects -= 1
    if (this.#reconnects < 0) return this.#fail(`${this.#job.host}:${this.#job.port} keeps closing connections`)
    this.#after(reconnectDelayMs, () => {
      if (!this.#ended) this.#open(lane, opened)
    })
  }

  #receive(lane: Lane, chunk: string): void {
    const request = lane.request
    let response: Response | undefined
    try {
      response = request === undefined ? undefined : lane.reader.push(chunk)
    } catch {
      this.#count("MALFORMED_RESPONSE")
      lane.socket?.destroy()
      return
    }
    if (request === undefined || response === undefined) return
    lane.request = undefined
    this.#answered(lane, request, response)
    this.#next(lane)
  }

  #answered(lane: Lane, request: BetRequest, response: Response): void {
    if (!isProcessed(request, response)) {
      this.#count(errorCode(response))
      // A 200 with another status or id, or a 5xx, leaves open what happened; a refusal moved nothing.
      if (response.status < 400 || response.status >= 500) this.#unknownOutcome(request)
      return
    }
    const now = performance.now()
    this.#processedEver += 1
    this.#acknowledged[request.player] = (this.#acknowledged[request.player] ?? 0) + this.#job.stake
    if (now >= this.#measureFrom && now < this.#measureTo) this.#processed += 1
    // Closed loop: answers that arrive in the measured seconds. Open loop: bets that were due in them.
    const at = this.#job.ratePerSecond === null ? now : lane.intendedAt
    if (at >= this.#measureFrom && at < this.#measureTo) this.#latency.recordValue(micros(now - lane.intendedAt))
  }

  #unknownOutcome(request: BetRequest): void {
    this.#unknown[request.player] = (this.#unknown[request.player] ?? 0) + this.#job.stake
  }

  /** Gives up requests that wait too long. Their waiting time counts as latency: somebody waited for it. */
  #expire(): void {
    const now = performance.now()
    for (const lane of this.#lanes) {
      if (lane.request === undefined || now - lane.sentAt < this.#job.timeoutMs) continue
      this.#unknownOutcome(lane.request)
      lane.request = undefined
      this.#count("TIMED_OUT")
      if (lane.intendedAt >= this.#measureFrom) this.#latency.recordValue(micros(now - lane.intendedAt))
      lane.socket?.destroy()
    }
  }

  #stop(): void {
    this.#stopping = true
    this.#after(this.#job.timeoutMs, () => this.#end())
    this.#endWhenQuiet()
  }

  #endWhenQuiet(): void {
    if (this.#lanes.some((lane) => lane.request !== undefined)) return
    if (this.#nextDue(performance.now()) !== undefined && this.#idle.length > 0) return
    this.#end()
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#giveUpUnsent()
    for (const lane of this.#lanes) {
      if (lane.request !== undefined) {
        this.#unknownOutcome(lane.request)
        this.#count("TIMED_OUT")
      }
    }
    this.#close()
    this.#settle.resolve({
      processed: this.#processed,
      errors: Object.fromEntries(this.#errors),
      latency: encodeHistogram(this.#latency),
      sendDelay: encodeHistogram(this.#sendDelay),
      acknowledged: [...this.#acknowledged],
      unknown: [...this.#unknown]
    })
  }

  #giveUpUnsent(): void {
    const rate = this.#job.ratePerSecond
    if (rate === null) return
    const now = performance.now()
    for (let dueAt = this.#nextDue(now); dueAt !== undefined; dueAt = this.#nextDue(now)) {
      this.#arrivals += 1
      this.#count("UNSENT")
      if (dueAt >= this.#measureFrom) this.#latency.recordValue(micros(now - dueAt))
    }
  }

  #fail(message: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#close()
    this.#settle.reject(new Error(message))
  }

  #close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    for (const lane of this.#lanes) lane.socket?.destroy()
  }

  #count(code: string): void {
    this.#failedEver += 1
    this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1)
  }

  #after(ms: number, run: () => void): void {
    this.#timers.push(setTimeout(run, ms))
  }

  #every(ms: number, run: () => void): void {
    this.#timers.push(setInterval(run, ms))
  }
}

/** At least 1, the lowest value a histogram takes. */
const micros = (ms: number): number => Math.max(1, Math.round(ms * 1000))

const isProcessed = (request: BetRequest, response: Response): boolean =>
  response.status === 200 && response.body.includes("\"status\":\"processed\"") &&
  response.body.includes(request.transactionId)

const codePattern = /"code":"([A-Z_]{1,60})"/
const statusPattern = /"status":"([a-z_]{1,30})"/

const errorCode = (response: Response): string => {
  const code = codePattern.exec(response.body)?.[1]
  if (code !== undefined) return code
  const status = response.status === 200 ? statusPattern.exec(response.body)?.[1] : undefined
  return status === undefined || status === "processed" ? `HTTP_${response.status}` : `STATUS_${status.toUpperCase()}`
}
