/** One HTTP response: its status and its body. */
export interface Response {
  readonly status: number
  readonly body: string
}

/** Bytes that are not an answer to one request, so that the connection cannot be used any more. */
export class MalformedResponse extends Error {}

/**
 * HTTP/1.1 response parser: one response at a time, with `Content-Length`. All bytes are decoded as
 * latin1, so that a character is a byte and lengths agree; compared parts of the body are ASCII.
 */
export class ResponseReader {
  #pending = ""

  /**
   * Takes the next bytes of the connection. Returns the response when they complete it, undefined when more must come.
   * Throws {@link MalformedResponse}.
   */
  push(chunk: string): Response | undefined {
    const text = this.#pending === "" ? chunk : this.#pending + chunk
    const headEnd = text.indexOf("\r\n\r\n")
    if (headEnd < 0) {
      this.#pending = text
      if (text.length > 65_536) throw new MalformedResponse("the head of the response does not end")
      return undefined
    }
    if (!text.startsWith("HTTP/1.1 ")) throw new MalformedResponse("not an HTTP/1.1 response")
    const length = contentLength(text, headEnd)
    const end = headEnd + 4 + length
    if (text.length < end) {
      this.#pending = text
      return undefined
    }
    if (text.length > end) throw new MalformedResponse("more bytes than one response")
    this.#pending = ""
    return { status: Number(text.slice(9, 12)), body: text.slice(headEnd + 4) }
  }
}

const lengthHeader = /\r\ncontent-length: *(\d+)\r\n/i

const contentLength = (text: string, headEnd: number): number => {
  const match = lengthHeader.exec(text.slice(0, headEnd + 2))
  if (match === null) throw new MalformedResponse("the response has no Content-Length")
  return Number(match[1])
}
