/** Operator API handlers for data subject requests. */
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentClaim, CurrentOperator } from "../../contract/common/Middleware.ts"
import type { DataRequest } from "../../contract/privacy/DataRequestResource.ts"
import { AccessDocument } from "../../features/privacy/AccessDocument.ts"
import { DataRequests } from "../../features/privacy/DataRequests.ts"
import { jsonResponse } from "../../http/Refusals.ts"

const render = (request: DataRequest) => ({ status: 201, body: JSON.stringify({ data: request }) })

export const PrivacyHandlers = HttpApiBuilder.group(
  Api,
  "privacy",
  Effect.fnUntraced(function*(handlers) {
    const requests = yield* DataRequests
    const documents = yield* AccessDocument
    return handlers
      .handle("request", ({ params, payload }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          const made = yield* requests.request(operator.id, params.player, payload.type, {
            actor: `key:${apiKey.key}`,
            claim: yield* CurrentClaim,
            render
          })
          const { body, status } = render(made)
          return jsonResponse(status, body)
        }), { uninterruptible: true })
      .handle("find", ({ params }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: yield* requests.find(operator.id, params.player, params.request) }
        }))
      .handle("document", ({ params }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          const { id } = yield* requests.toRead(operator.id, params.player, params.request)
          // completed before the last part is sent: who has the whole document has had the request met
          const completed = requests.complete(operator.id, id, `key:${apiKey.key}`)
          return HttpServerResponse.stream(
            documents.of(operator.id, params.player, completed).pipe(Stream.encodeText),
            { contentType: "application/json" }
          )
        }))
  })
)
