/** HTTP request whose body has been read into memory. */
import { Effect, Inspectable, Option, Stream } from "effect"
import { Headers, HttpIncomingMessage, HttpServerRequest } from "effect/http"
import type { IncomingHttpHeaders } from "node:http"
import { textOf } from "../protocols/ApiBodies.ts"

const unsupported = Effect.die(new Error("no endpoint takes a body of this kind"))

/** Source of a request: Node.js's message, or another node's. */
interface Source {
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}

export class ReadRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
  readonly [HttpServerRequest.TypeId]: typeof HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly source: Source
  readonly body: Buffer
  readonly method: string
  readonly url: string
  #headers: Headers.Headers | undefined
  #text: Effect.Effect<string> | undefined
  #bytes: Effect.Effect<ArrayBuffer> | undefined

  constructor(source: Source, method: string, url: string, body: Buffer) {
    super()
    this.source = source
    this.body = body
    this.method = method
    this.url = url
  }

  get headers(): Headers.Headers {
    return this.#headers ??= Headers.fromInput(this.source.headers)
  }

  get text(): Effect.Effect<string> {
    return this.#text ??= Effect.succeed(textOf(this.body))
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer> {
    return this.#bytes ??= Effect.succeed(new Uint8Array(this.body).buffer)
  }

  get remoteAddress(): Option.Option<string> {
    return Option.fromNullishOr(this.source.socket.remoteAddress)
  }

  get peerAddress(): Option.Option<string> {
    return this.remoteAddress
  }

  get originalUrl(): string {
    return this.url
  }

  readonly protocol = undefined
  readonly cookies = {}
  readonly json = unsupported
  readonly urlParamsBody = unsupported
  readonly multipart = unsupported
  readonly multipartStream = Stream.empty
  readonly stream = Stream.empty
  readonly upgrade = unsupported
  readonly upgradeWith = () => unsupported
  readonly modify = () => this

  toJSON() {
    return { _id: "HttpServerRequest", method: this.method, url: this.url }
  }
}
