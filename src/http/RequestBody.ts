/** Reads request bodies, of a known length or up to a maximum. With a known length it does not wait for Node.js's `end` event. */
import type { IncomingMessage } from "node:http"

// Kept: none. An empty body. Several nodes: constant.
const none = Buffer.alloc(0)

/** Passes a body of this length to `use` at its last byte, before Node.js's `end` event. A truncated body is never passed. */
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

/** Passes a body of unknown length to the callback, undefined as soon as it exceeds the maximum. A truncated body is never passed. */
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
