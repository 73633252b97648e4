import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiSwagger } from "effect/http-api"
import { Api } from "../api/Api.ts"

/** The page brings everything it needs; this says so to the browser, which then loads nothing from anywhere else. */
const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const SelfContained = HttpRouter.middleware(Effect.map(HttpServerResponse.setHeader("content-security-policy", policy)))

/** `/docs`: the contract to browse. `/openapi.json` is the same for machines. */
export const Documentation = HttpApiSwagger.layer(Api, { path: "/docs" }).pipe(Layer.provide(SelfContained.layer))
