/** Identity provider for tests: `oidc-provider` in this process, and a back office configured with it. */
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import * as Http from "node:http"
import OidcProvider from "oidc-provider"
import { Settings } from "../../src/platform/Settings.ts"
import { layerBackofficeServer } from "../../src/servers/BackofficeServer.ts"
import { listensAt } from "./HttpCalls.ts"

/** Operators claim per person; a person not listed has none. */
export const operatorsOf = new Map<string, unknown>()

/** The role claim of each person of the provider. */
export const people = new Map<string, unknown>([["ann", "support"], ["eve", "visitor"]])

const clientSecret = "a secret of the back office at the provider"

/** Opens a provider at a local port; answers 503 until the back office's address is set. */
export const openProvider = Effect.promise(async () => {
  let answer: Http.RequestListener = (_request, response) => void response.writeHead(503).end()
  const server = Http.createServer((request, response) => answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const issuer = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  const start = (redirect: string) => {
    answer = new OidcProvider(issuer, {
      clients: [{ client_id: "pitboss", client_secret: clientSecret, redirect_uris: [redirect] }],
      claims: { openid: ["sub"], profile: ["name", "role", "operators"], email: ["email"] },
      pkce: { required: () => true },
      findAccount: (_context, id) => ({
        accountId: id,
        claims: () => ({ sub: id, name: `Name of ${id}`, role: people.get(id), operators: operatorsOf.get(id) })
      })
    }).callback()
  }
  return { issuer, server, start }
})

/** A back office of its own at a free port, over the services of the test, that knows the provider. */
export const openBackoffice = Effect.fnUntraced(function*(
  issuer: string,
  operators: { readonly claim?: string; readonly absent?: "none" | "all" } = {}
) {
  const settings = yield* Settings
  const server = layerBackofficeServer(Layer.empty).pipe(
    Layer.provide(Layer.succeed(Settings, {
      ...settings,
      oidc: {
        issuer,
        clientId: "pitboss",
        clientSecret: Redacted.make(clientSecret),
        roleClaim: "role",
        operatorsClaim: operators.claim,
        operatorsAbsent: operators.absent ?? "none"
      }
    }))
  )
  return listensAt(Context.get(yield* Layer.build(Layer.fresh(server)), HttpServer.HttpServer))
})
