/** `/docs`, an interactive API reference, and `/openapi.json`: generated at the first request, disabled by `DOCS=off`. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { HttpApiSwagger, OpenApi } from "effect/http-api"
import { Api } from "../contract/Api.ts"
import { Settings } from "../platform/Settings.ts"
import { serveDocument } from "./Document.ts"
import { bodyText } from "./Refusals.ts"

/** Content-Security-Policy of the page, which is self-contained and loads nothing from other origins. */
const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * Runs in the browser: signs the requests sent from the page with the secret entered in the signature field. The secret
 * itself is not sent.
 */
const signRequest = `async (request) => {
      const header = (name) => Object.keys(request.headers).find((each) => each.toLowerCase() === name);
      const secret = request.headers[header("x-signature")];
      if (secret === undefined || /^[0-9a-f]{64}$/.test(secret)) return request;
      const { pathname, search } = new URL(request.url, globalThis.location?.href);
      const timestamp = String(Math.floor(new Date / 1000));
      const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
      const nonce = hex(crypto.getRandomValues(new Uint8Array(16)));
      const text = [request.method.toUpperCase(), pathname + search, timestamp, request.body ?? "", nonce].join("\\n");
      const bytes = (value) => new TextEncoder().encode(value);
      const key = await crypto.subtle.importKey("raw", bytes(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
      const signature = hex(await crypto.subtle.sign("HMAC", key, bytes(text)));
      const set = { "X-Timestamp": timestamp, "X-Nonce": nonce, "X-Signature": signature };
      for (const name of Object.keys(set)) delete request.headers[header(name.toLowerCase())];
      Object.assign(request.headers, set);
      return request;
    }`

const mount = `dom_id: "#swagger-ui",`

const settings = `${mount}
        deepLinking: true,
        defaultModelsExpandDepth: 0,
        displayRequestDuration: true,
        filter: true,
        requestInterceptor: ${signRequest},`

/** Inserts the service's settings into the page, at the last match: the script and the document precede it. */
const withSettings = (html: string): string => {
  const at = html.lastIndexOf(mount)
  return at < 0 ? html : html.slice(0, at) + settings + html.slice(at + mount.length)
}

/**
 * The page, built at its first request: Effect's layer loads two megabytes of script when it is built. It has a router of its own, whose only
 * route is this page.
 */
const page = Effect.gen(function*() {
  const router = yield* HttpRouter.make
  yield* Layer.build(HttpApiSwagger.layer(Api, { path: "/docs" })).pipe(
    Effect.provideService(HttpRouter.HttpRouter, router)
  )
  const response = yield* router.asHttpEffect()
  return { text: withSettings(bodyText(response)), contentType: "text/html; charset=utf-8" }
}).pipe(
  Effect.provideServiceEffect(
    HttpServerRequest.HttpServerRequest,
    Effect.sync(() => HttpServerRequest.fromWeb(new Request("http://localhost/docs")))
  ),
  Effect.scoped,
  Effect.orDie
)

export const Documentation = Layer.unwrap(Effect.gen(function*() {
  if (!(yield* Settings).docs) return Layer.empty
  const document = Effect.sync(() => ({ text: JSON.stringify(OpenApi.fromApi(Api)), contentType: "application/json" }))
  return Layer.merge(
    HttpRouter.add("GET", "/docs", yield* serveDocument(page, { "content-security-policy": policy })),
    HttpRouter.add("GET", "/openapi.json", yield* serveDocument(document))
  )
}))
