import type { IncomingMessage } from "node:http"

const none = Buffer.alloc(0)

/** Hands over a body of this length at its last byte, before Node.js's own end of the request. One that is cut off is never handed over. */
export const readBody = (source: IncomingMessage, length: number, use: (body: Buffer) => void): void => {
  if (length === 0) return use(none)
  let first: Buffer | undefined
  let more: Array<Buffer> | undefined
  let missing = length
  source.on("data", (chunk: Buffer) => {
    if (first === undefined) first = chunk
    else (more ??= [first]).push(chunk)
    missing -= chunk.length
    if (missing === 0) use(more === undefined ? first : Buffer.concat(more, length))
  })
}

/** A UTF-8 text without the byte order mark that it may begin with. */
export const textOf = (body: Buffer): string =>
  body.toString("utf8", body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0)

/** Hands over a body of unstated length, undefined at the first byte beyond the maximum. One that is cut off is never handed over. */
export const readBounded = (
  source: IncomingMessage,
  maximum: number,
  use: (body: Buffer | undefined) => void
): void => {
  const chunks: Array<Buffer> = []
  let length = 0
  let isOver = false
  source.on("data", (chunk: Buffer) => {
    if (isOver) return
    length += chunk.length
    if (length > maximum) {
      isOver = true
      return use(undefined)
    }
    chunks.push(chunk)
  })
  source.once("end", () => {
    if (!isOver) use(Buffer.concat(chunks, length))
  })
}
