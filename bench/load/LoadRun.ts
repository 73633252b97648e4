import type { Histogram } from "hdr-histogram-js"
import { connect, type Socket } from "node:net"
import { Arrivals } from "./Arrivals.ts"
import type { Job, JobResult } from "./Job.ts"
import { makeHistogram, micros } from "./Latency.ts"
import { changeOf, type Request, type Traffic } from "./Requests.ts"
import { type Response, ResponseReader } from "./ResponseReader.ts"
import { Tally } from "./Tally.ts"
import { makeTraffic } from "./Traffic.ts"

/** Called as a job goes on. */
export interface LoadRunHooks {
  readonly measuring: () => void
  readonly measured: () => void
  /** Twice a second: requests processed and failed so far, warm-up included. */
  readonly progress: (processed: number, errors: number) => void
}

/** A connection and the one request that may be under way on it. */
interface Lane {
  readonly number: number
  socket: Socket | undefined
  reader: ResponseReader
  request: Request | undefined
  intendedAt: number
  sentAt: number
}

const reconnectDelayMs = 50

/**
 * One job of the load generator.
 *
 * Closed loop: every connection sends its next request when it is answered, so the rate is the target's throughput.
 * Open loop: requests are due at a given rate, independent of the target, and latency counts from the due time, not
 * from when a connection was free. Requests are due on whole milliseconds, the resolution of timers; a due request
 * waits for a free connection; requests not sent by the end are counted as unsent with their waiting time. All
 * times are milliseconds of `performance.now()`.
 */
export class LoadRun {
  /** Settles when every answer has come or timed out; rejects when the target cannot be reached. */
  readonly result: Promise<JobResult>

  readonly #job: Job
  readonly #hooks: LoadRunHooks
  readonly #traffic: Traffic
  readonly #arrivals: Arrivals | undefined
  readonly #tally: Tally
  readonly #lanes: Array<Lane> = []
  readonly #idle: Array<Lane> = []
  readonly #sendDelay: Histogram = makeHistogram()
  readonly #timers: Array<NodeJS.Timeout> = []
  readonly #settle: { readonly resolve: (result: JobResult) => void; readonly reject: (error: Error) => void }

  #reconnects: number
  #stopping = false
  #ended = false

  constructor(job: Job, hooks: LoadRunHooks) {
    this.#job = job
    this.#hooks = hooks
    this.#traffic = makeTraffic(job)
    this.#arrivals = job.phases === null ? undefined : new Arrivals(job.phases)
    this.#tally = new Tally(job)
    this.#reconnects = job.connections * job.reconnects
    const { promise, resolve, reject } = Promise.withResolvers<JobResult>()
    this.result = promise
    this.#settle = { resolve, reject }
    this.#start()
  }

  #start(): void {
    let waiting = this.#job.connections
    for (let number = 0; number < this.#job.connections; number++) {
      const lane: Lane = {
        number,
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
    const { measuredSeconds, warmUpSeconds } = this.#job
    const now = performance.now()
    this.#tally.begin(now)
    this.#arrivals?.begin(now)
    this.#after(warmUpSeconds * 1000, this.#hooks.measuring)
    this.#after((warmUpSeconds + measuredSeconds) * 1000, () => {
      this.#hooks.measured()
      this.#stop()
    })
    this.#every(500, () => this.#hooks.progress(this.#tally.processedEver, this.#tally.failedEver))
    this.#every(100, () => this.#expire())
    if (this.#arrivals === undefined) {
      for (const lane of this.#lanes) this.#send(lane, performance.now())
    } else {
      for (const lane of this.#lanes) this.#idle.push(lane)
      this.#every(1, () => this.#dispatch(this.#arrivals))
    }
  }

  /** Sends due requests while connections are free. */
  #dispatch(arrivals: Arrivals | undefined): void {
    if (arrivals === undefined) return
    for (let lane = this.#idle.pop(); lane !== undefined; lane = this.#idle.pop()) {
      const dueAt = this.#nextDue(arrivals)
      if (dueAt === undefined) {
        this.#idle.push(lane)
        return
      }
      arrivals.take()
      this.#send(lane, dueAt)
    }
  }

  /** Due time of the next request not given up; undefined when none is due yet. */
  #nextDue(arrivals: Arrivals): number | undefined {
    const now = performance.now()
    const { patienceMs } = this.#job
    for (let dueAt = arrivals.due(now); dueAt !== undefined; dueAt = arrivals.due(now)) {
      if (patienceMs === null || now - dueAt < patienceMs) return dueAt
      arrivals.take()
      this.#tally.failed("GIVEN_UP", now, dueAt)
    }
    return undefined
  }

  #send(lane: Lane, intendedAt: number): void {
    if (lane.socket === undefined) return
    const request = this.#traffic.next(lane.number, Math.floor(Date.now() / 1000).toString())
    lane.request = request
    lane.intendedAt = intendedAt
    lane.sentAt = performance.now()
    lane.socket.write(request.bytes, "latin1")
    if (this.#tally.isMeasured(intendedAt)) this.#sendDelay.recordValue(micros(lane.sentAt - intendedAt))
  }

  /** The connection is free: closed loop sends at once, open loop when something is due. */
  #next(lane: Lane): void {
    if (this.#arrivals === undefined) {
      if (this.#stopping) this.#endWhenQuiet()
      else this.#send(lane, performance.now())
      return
    }
    this.#idle.push(lane)
    this.#dispatch(this.#arrivals)
    if (this.#stopping) this.#endWhenQuiet()
  }

  #open(lane: Lane, opened: () => void): void {
    const buffer = Buffer.allocUnsafe(8192)
    const socket = connect({
      host: this.#job.host,
      port: this.#job.nodes?.ports[lane.number % this.#job.nodes.ports.length] ?? this.#job.port,
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
    // "close" follows every error and is handled instead.
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
      if (lane.request !== undefined) this.#lost(lane, lane.request, "DISCONNECTED")
      if (this.#stopping) return this.#endWhenQuiet()
    }
    this.#reconnects -= 1
    if (this.#reconnects < 0) return this.#fail(`${this.#job.host}:${this.#job.port} keeps closing connections`)
    this.#after(reconnectDelayMs, () => {
      if (!this.#ended) this.#open(lane, opened)
    })
  }

  /** Records a request without an answer: unknown outcome. */
  #lost(lane: Lane, request: Request, code: string): void {
    lane.request = undefined
    this.#tally.unknown(request)
    this.#tally.failed(code, performance.now(), lane.intendedAt)
    this.#traffic.ended(lane.number, request, false)
  }

  #receive(lane: Lane, chunk: string): void {
    const request = lane.request
    let response: Response | undefined
    try {
      response = request === undefined ? undefined : lane.reader.push(chunk)
    } catch {
      if (request !== undefined) this.#lost(lane, request, "MALFORMED_RESPONSE")
      lane.socket?.destroy()
      return
    }
    if (request === undefined || response === undefined) return
    lane.request = undefined
    this.#answered(lane, request, response)
    this.#next(lane)
  }

  #answered(lane: Lane, request: Request, response: Response): void {
    const now = performance.now()
    const processed = isProcessed(request, response)
    if (processed) this.#tally.processed(request, changeOf(request, response.body), now, lane.intendedAt, lane.sentAt)
    else {
      this.#tally.failed(errorCode(request, response), now, lane.intendedAt)
      // A 200 with another status or id, or a 5xx, is an unknown outcome; a refusal moved nothing.
      if (response.status < 400 || response.status >= 500) this.#tally.unknown(request)
    }
    this.#traffic.ended(lane.number, request, processed)
  }

  /** Gives up requests that wait too long. Their waiting time counts as latency. */
  #expire(): void {
    const now = performance.now()
    for (const lane of this.#lanes) {
      if (lane.request === undefined || now - lane.sentAt < this.#job.timeoutMs) continue
      this.#tally.waited(now, lane.intendedAt)
      this.#lost(lane, lane.request, "TIMED_OUT")
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
    if (this.#arrivals !== undefined && this.#idle.length > 0 && this.#nextDue(this.#arrivals) !== undefined) return
    this.#end()
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    if (this.#arrivals !== undefined) this.#giveUpUnsent(this.#arrivals)
    for (const lane of this.#lanes) if (lane.request !== undefined) this.#lost(lane, lane.request, "TIMED_OUT")
    this.#close()
    this.#settle.resolve(this.#tally.result(this.#sendDelay))
  }

  #giveUpUnsent(arrivals: Arrivals): void {
    const now = performance.now()
    for (let dueAt = this.#nextDue(arrivals); dueAt !== undefined; dueAt = this.#nextDue(arrivals)) {
      arrivals.take()
      this.#tally.failed("UNSENT", now, dueAt)
      this.#tally.waited(now, dueAt)
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

  #after(ms: number, run: () => void): void {
    this.#timers.push(setTimeout(run, ms))
  }

  #every(ms: number, run: () => void): void {
    this.#timers.push(setInterval(run, ms))
  }
}

const isProcessed = (request: Request, response: Response): boolean =>
  response.status === request.status && request.marks.every((mark) => response.body.includes(mark))

const codePattern = /"code":"([A-Z_]{1,60})"/
const statusPattern = /"status":"([a-z_]{1,30})"/

const errorCode = (request: Request, response: Response): string => {
  const code = codePattern.exec(response.body)?.[1]
  if (code !== undefined) return code
  const status = response.status === request.status ? statusPattern.exec(response.body)?.[1] : undefined
  return status === undefined || request.marks[0]?.includes(status) === true
    ? `HTTP_${response.status}`
    : `STATUS_${status.toUpperCase()}`
}
