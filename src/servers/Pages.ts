/**
 * Pages of the back office: the built files with their compressed forms, all in memory, and the way to the sign-in for who has no session.
 * The document carries a nonce for the styles that the pages make; scripts come from this origin alone.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer, Path, Schema } from "effect"
import { type Headers, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { SignInLinks } from "../features/staffSessions/SignInLive.ts"
import { StaffSessions } from "../features/staffSessions/StaffSessions.ts"
import { Entropy } from "../platform/Entropy.ts"

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml"
}

/** Where the build stands: beside the sources, as `npm run build` leaves it. */
const builtAt = "../../dist/pages"

/** A file of the build: as it is, and in brotli where that is smaller. */
interface BuiltFile {
  readonly path: string
  readonly contentType: string
  readonly plain: Uint8Array
  readonly brotli: Uint8Array | undefined
}

/** What stands in the document where its nonce goes. */
const nonceMark = "NONCE"

const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    // styles of single elements, as charts and menus set them
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'"
  ].join("; ")

const headersOf = (nonce: string): Headers.Input => ({
  "content-security-policy": policyOf(nonce),
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()"
})

const unbuilt = HttpServerResponse.text(
  "The pages are not built. Run: npm run build\nThe staff API and the command line work without them.\n",
  { status: 503, headers: { "retry-after": "5" } }
)

const Addresses = Schema.fromJsonString(Schema.Array(Schema.String))

const readBuild = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(import.meta.dirname, builtAt)
  if (!(yield* fs.exists(folder))) return undefined
  const names = (yield* fs.readDirectory(folder, { recursive: true })).filter((name) =>
    contentTypes[path.extname(name)] !== undefined
  )
  const files = yield* Effect.forEach(names, (name) =>
    Effect.gen(function*() {
      const compressed = path.join(folder, `${name}.br`)
      return {
        path: `/${name.replaceAll("\\", "/")}`,
        contentType: contentTypes[path.extname(name)] ?? "",
        plain: yield* fs.readFile(path.join(folder, name)),
        brotli: (yield* fs.exists(compressed)) ? yield* fs.readFile(compressed) : undefined
      } satisfies BuiltFile
    }))
  const addresses = yield* Schema.decodeEffect(Addresses)(
    yield* fs.readFileString(path.join(folder, "addresses.json"))
  )
  return { addresses, files }
})

/** A file with a hash in its name never changes; another is asked for again. */
const serveFile = ({ brotli, contentType, path, plain }: BuiltFile) => {
  const cached = {
    "cache-control": path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache",
    vary: "accept-encoding"
  }
  const asItIs = HttpServerResponse.uint8Array(plain, { contentType, headers: cached })
  const compressed = brotli === undefined ? asItIs : HttpServerResponse.uint8Array(brotli, {
    contentType,
    headers: { ...cached, "content-encoding": "br" }
  })
  return Effect.map(
    HttpServerRequest.HttpServerRequest,
    ({ headers }) => /\bbr\b/.test(headers["accept-encoding"] ?? "") ? compressed : asItIs
  )
}

/** Paths of this server alone: what a sign-in may lead back to. */
const nextOf = (url: string): string => url.length <= 2000 ? url : "/"

/**
 * The pages' routes. Without a session a page leads to `/sign-in?next=…`; a one-time link is redeemed at `/sign-in?ticket=…`. Needs
 * `StaffSessions` and `SignInLinks`.
 */
export const layerPages = Layer.unwrap(Effect.gen(function*() {
  const sessions = yield* StaffSessions
  const links = yield* SignInLinks
  const entropy = yield* Entropy
  const built = yield* readBuild
  if (built === undefined) {
    yield* Effect.logWarning("pages are not built").pipe(Effect.annotateLogs({ remedy: "npm run build" }))
    return Layer.merge(
      HttpRouter.add("GET", "/", unbuilt),
      HttpRouter.add("GET", "/sign-in", unbuilt)
    )
  }
  const document = new TextDecoder().decode(built.files.find(({ path }) => path === "/index.html")?.plain)
  const page = Effect.sync(() => {
    const nonce = entropy.token("", 22)
    return HttpServerResponse.text(document.replace(nonceMark, nonce), {
      contentType: "text/html; charset=utf-8",
      headers: headersOf(nonce)
    })
  })

  const framed = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const found = yield* sessions.ofCookie(request.headers["cookie"])
    return found === undefined
      ? HttpServerResponse.redirect(`/sign-in?next=${encodeURIComponent(nextOf(request.url))}`, {
        headers: { "cache-control": "no-store" }
      })
      : yield* page
  })

  const signIn = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const ticket = new URL(request.url, "http://localhost").searchParams.get("ticket")
    if (ticket === null) return yield* page
    const { cookie, location } = yield* links.redeem(ticket)
    return HttpServerResponse.redirect(location, {
      headers: { "cache-control": "no-store", ...(cookie === undefined ? {} : { "set-cookie": cookie }) }
    })
  })

  return Layer.mergeAll(
    HttpRouter.add("GET", "/sign-in", signIn),
    HttpRouter.addAll(built.addresses.map((address) => HttpRouter.route("GET", `/${address.slice(1)}`, framed))),
    HttpRouter.addAll(
      built.files.filter(({ path }) => path !== "/index.html").map((file) =>
        HttpRouter.route("GET", `/${file.path.slice(1)}`, serveFile(file))
      )
    )
  )
})).pipe(Layer.provide([Entropy.layer, NodeServices.layer]))
