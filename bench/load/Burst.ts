import { connect } from "node:net"
import type { Request } from "./Requests.ts"
import { ResponseReader } from "./ResponseReader.ts"

/** Outcome of requests that were all sent at once. */
export interface BurstResult {
  /** Answered as they should be. */
  readonly processed: number
  readonly seconds: number
}

const timeoutMs = 60_000

/** Sends one request over a connection of its own; whether it was answered as it should be. */
const sendOne = (host: string, port: number, request: Request): Promise<boolean> =>
  new Promise((resolve) => {
    const reader = new ResponseReader()
    const socket = connect({ host, port, noDelay: true }, () => socket.write(request.bytes, "latin1"))
    const end = (isProcessed: boolean): void => {
      socket.destroy()
      resolve(isProcessed)
    }
    socket.setTimeout(timeoutMs, () => end(false))
    socket.on("error", () => end(false))
    socket.on("close", () => resolve(false))
    socket.on("data", (chunk) => {
      try {
        const response = reader.push(chunk.toString("latin1"))
        if (response === undefined) return
        end(response.status === request.status && request.marks.every((mark) => response.body.includes(mark)))
      } catch {
        end(false)
      }
    })
  })

/** Sends all requests at the same time, each over a connection of its own, and waits for the answers. */
export const sendAtOnce = async (
  { host, port }: { readonly host: string; readonly port: number },
  requests: ReadonlyArray<Request>
): Promise<BurstResult> => {
  const start = performance.now()
  const answers = await Promise.all(requests.map((request) => sendOne(host, port, request)))
  return { processed: answers.filter(Boolean).length, seconds: (performance.now() - start) / 1000 }
}
