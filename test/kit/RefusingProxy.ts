/** An address in front of PostgreSQL that refuses connections as a server does that starts, stops or is full. */
import { Effect } from "effect"
import * as Net from "node:net"
import { listening } from "./Listening.ts"

/** PostgreSQL's refusal of a connection. */
const refusalOf = (code: string, message: string): Buffer => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.alloc(5)
  head.write("E")
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

/** An address that refuses connections this way until it is opened; then it leads to the database. */
export const makeRefusingProxy = (upstreamPort: number, code: string, message: string) =>
  Effect.gen(function*() {
    const refusal = refusalOf(code, message)
    let isOpen = false
    const clients = new Set<Net.Socket>()
    const server = Net.createServer((client) => {
      clients.add(client.on("error", () => {}))
      if (!isOpen) return void client.once("data", () => client.end(refusal))
      const upstream = Net.connect(upstreamPort, "127.0.0.1")
      upstream.on("error", () => client.destroy())
      client.pipe(upstream).pipe(client)
    })
    const port = yield* listening(server, () => {
      for (const client of clients) client.destroy()
    })
    return { port, open: () => void (isOpen = true) }
  })
