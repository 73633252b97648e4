/** The back-office server: what staff and the command line call, on a port of its own. */
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../api/BackofficeApi.ts"
import { Settings } from "../../platform/Settings.ts"
import { makeEdge } from "../Edge.ts"
import { serveAt } from "../Listener.ts"
import { methodsOf } from "../Methods.ts"
import { BackofficeHandlers } from "./Handlers.ts"
import { StaffAuthLive } from "./StaffAuthLive.ts"

/** A verification of a large ledger answers when it has read it: its caller waits in silence. */
const verificationMs = 3_600_000

/** Paths outside the staff API. */
const readPaths = ["/metrics", "/openapi.json"] as const

const Edge = HttpRouter.middleware(
  Effect.suspend(() => makeEdge(methodsOf(BackofficeApi, readPaths))),
  { global: true }
)

const Routes = Layer.mergeAll(
  HttpApiBuilder.layer(BackofficeApi, { openapiPath: "/openapi.json" }),
  Edge
).pipe(Layer.provide(BackofficeHandlers), Layer.provide(StaffAuthLive))

/**
 * Serves the staff API at `BACKOFFICE_HOST` and `BACKOFFICE_PORT`, with `more` routes beside it. Needs `layerBackoffice`, the
 * capabilities, and `layerHttpServices`.
 */
export const layerBackofficeServer = <A, E, R>(more: Layer.Layer<A, E, R>) =>
  Layer.unwrap(
    Effect.map(Settings, ({ backofficeHost, backofficePort }) =>
      serveAt(Layer.merge(Routes, more), { host: backofficeHost, port: backofficePort, silenceMs: verificationMs }))
  )
