import { connect, type Socket } from "node:net"
import type { Request } from "./Requests.ts"
import { ResponseReader } from "./ResponseReader.ts"

/** Outcome of requests that were all sent at once. */
export interface BurstResult {
  /** Answered as they should be. */
  readonly processed: number
  readonly seconds: number
}

const timeoutMs = 60_000

interface Connection {
  readonly socket: Socket
  readonly reader: ResponseReader
  /** Ends the request under way. */
  end: (isProcessed: boolean) => void
}

const idle = (): void => {}

/** Connections to a service, kept open and used again as a platform's are. A request takes one that is idle, or opens one. */
export class BurstConnections {
  readonly #idle: Array<Connection> = []
  readonly #open = new Set<Connection>()
  readonly #address: { readonly host: string; readonly port: number }

  constructor({ host, port }: { readonly host: string; readonly port: number }) {
    this.#address = { host, port }
  }

  #connect(): Connection {
    const socket = connect({ ...this.#address, noDelay: true })
    const connection: Connection = { socket, reader: new ResponseReader(), end: idle }
    this.#open.add(connection)
    socket.setTimeout(timeoutMs, () => socket.destroy())
    socket.on("error", () => socket.destroy())
    socket.on("close", () => {
      this.#open.delete(connection)
      const index = this.#idle.indexOf(connection)
      if (index >= 0) this.#idle.splice(index, 1)
      connection.end(false)
    })
    return connection
  }

  /** Sends one request; whether it was answered as it should be. */
  #send(request: Request): Promise<boolean> {
    const connection = this.#idle.pop() ?? this.#connect()
    const { reader, socket } = connection
    return new Promise((resolve) => {
      const receive = (chunk: Buffer): void => {
        try {
          const response = reader.push(chunk.toString("latin1"))
          if (response === undefined) return
          connection.end(
            response.status === request.status && request.marks.every((mark) => response.body.includes(mark))
          )
          this.#idle.push(connection)
        } catch {
          socket.destroy()
        }
      }
      connection.end = (isProcessed) => {
        connection.end = idle
        socket.off("data", receive)
        resolve(isProcessed)
      }
      socket.on("data", receive)
      socket.write(request.bytes, "latin1")
    })
  }

  /** Sends all requests at the same time, each over a connection of its own, and waits for the answers. */
  async send(requests: ReadonlyArray<Request>): Promise<BurstResult> {
    const start = performance.now()
    const answers = await Promise.all(requests.map((request) => this.#send(request)))
    return { processed: answers.filter(Boolean).length, seconds: (performance.now() - start) / 1000 }
  }

  /** Closes all connections. */
  close(): void {
    for (const { socket } of this.#open) socket.destroy()
  }
}
