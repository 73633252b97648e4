import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { runInThisContext } from "node:vm"
import { openCasinoInRows, registration } from "../kit/Casino.ts"
import { layerE2eServer } from "../kit/E2eServer.ts"
import { portOf, send } from "../kit/HttpCalls.ts"

// Goal: with a secret entered the page can send every request, and the secret stays in it. Method: take the page's own
// function from the page, call it with requests as the page does, and send its results.

interface PageRequest {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
}

layer(layerE2eServer, { excludeTestServices: true })("the page /docs", (it) => {
  it.effect("signs the requests that are sent from the page", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const { key } = yield* openCasinoInRows("reader")
      const { text } = yield* send(port, "/docs")
      const source = /requestInterceptor: (async \(request\) => \{[\s\S]*?\n {4}\}),/.exec(text)?.[1]
      assert(source !== undefined, "the page has a function that signs")
      const sign: (request: PageRequest) => Promise<PageRequest> = runInThisContext(`(${source})`)

      const base = `http://127.0.0.1:${port}/api/v1/operator`
      const filled = { "X-Api-Key": key.key, "X-Timestamp": "now", "X-Signature": key.secret }
      const body = JSON.stringify(registration("reader"))
      const requests: ReadonlyArray<readonly [number, PageRequest]> = [
        [200, { url: `${base}/players?search=a%20b&page=1`, method: "get", headers: { ...filled } }],
        [201, {
          url: `${base}/players`,
          method: "POST",
          headers: { ...filled, "X-Nonce": "given", "Content-Type": "application/json" },
          body
        }]
      ]
      for (const [status, request] of requests) {
        const { headers, method, url, ...rest } = yield* Effect.promise(() => sign(request))
        assert.notInclude(JSON.stringify(headers), key.secret)
        const response = yield* Effect.promise(() => fetch(url, { method, headers, ...rest }))
        assert.strictEqual(response.status, status)
      }
    }))

  it.effect("does not change requests that are already signed or need no signature", () =>
    Effect.gen(function*() {
      const { text } = yield* send(yield* portOf, "/docs")
      const source = /requestInterceptor: (async \(request\) => \{[\s\S]*?\n {4}\}),/.exec(text)?.[1]
      const sign: (request: PageRequest) => Promise<PageRequest> = runInThisContext(`(${source})`)
      for (const headers of [{ authorization: "Bearer x" }, { "X-Signature": "0".repeat(64), "X-Timestamp": "1" }]) {
        const signed = yield* Effect.promise(() => sign({ url: "http://x/", method: "GET", headers: { ...headers } }))
        assert.deepStrictEqual(signed.headers, headers)
      }
    }))
})
