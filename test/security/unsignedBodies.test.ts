import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { vi } from "vitest"
import { readForm } from "../../src/protocols/FormBody.ts"
import { parseJson } from "../../src/protocols/JsonBody.ts"
import { protocols } from "../../src/protocols/Protocols.ts"
import { protocolOfSample, samples } from "../../scripts/simulators/Samples.ts"
import { layerBothServers } from "../kit/Backoffice.ts"
import { BothServers, made } from "../kit/Casino.ts"
import { send } from "../kit/HttpCalls.ts"
import { strangerAddresses, strangerBodies, strangerBytes, strangerProviders } from "../kit/Strangers.ts"
import { vendorCall } from "../protocols/support.ts"

// Goal: nothing of a stranger's body is taken apart that grows with it. Method: 250 KB of every form that is dear to decode; work is counted, not
// timed: how often bytes become text, and how long the texts are that are parsed.

/** A body that counts how often it is turned into text. */
const watched = (body: Buffer) => {
  let texts = 0
  const bytes = Object.defineProperty(Buffer.from(body), "toString", {
    value: (...args: ReadonlyArray<never>) => {
      texts++
      return Buffer.prototype.toString.apply(body, [...args])
    }
  })
  return { bytes, texts: () => texts }
}

describe("the body of an unauthenticated request", () => {
  const vendors = strangerProviders((sample) => sample, "https://vendor.example")
  for (const { address, provider: { name } } of vendors) {
    const bound = Result.getOrThrow(
      protocols.find((protocol) => protocol.name === protocolOfSample(name))?.bind(
        samples[name]?.("https://vendor.example").provider
      ) ?? assert.fail(name)
    )
    const [path = "", query = ""] = address.path.slice(`/api/v1/integrations/${name}`.length).split("?")
    const receive = (body: Buffer) =>
      bound.receive(vendorCall(path, body, { query, headers: address.headers(1_700_000_000), now: 1_700_000_000_000 }))

    it.each(strangerBodies)(`${name}: $name is refused without decoding it to text`, ({ body }) => {
      const { bytes, texts } = watched(body)
      assert.strictEqual(receive(bytes)._tag, "Stranger")
      assert.strictEqual(texts(), 0)
    })

    it(`${name}: a form of normal length with more fields than any message has is refused without decoding it to text`, () => {
      const { bytes, texts } = watched(Buffer.from("a=1&".repeat(4000)))
      assert.strictEqual(receive(bytes)._tag, "Stranger")
      assert.strictEqual(texts(), 0)
    })
  }

  it("is parsed as a form only up to its limits of bytes and fields, which are counted first", () => {
    const bounds = { bytes: 100, fields: 3 }
    assert.deepStrictEqual(readForm(Buffer.from("a=1&b=%32+x&&=c"), { bytes: 100, fields: 4 }), [
      ["a", "1"],
      ["b", "2 x"],
      ["", "c"]
    ])
    assert.lengthOf(readForm(Buffer.from("a&b&c"), bounds) ?? [], 3)
    assert.isUndefined(readForm(Buffer.from("a&b&c&d"), bounds))
    assert.isUndefined(readForm(Buffer.from(`a=${"x".repeat(99)}`), bounds))
    assert.lengthOf(readForm(Buffer.from(`a=${"x".repeat(98)}`), bounds) ?? [], 1)
    assert.deepStrictEqual(readForm(Buffer.from("a=%zz&b=%ff&c=100%"), bounds), [
      ["a", "%zz"],
      ["b", "\ufffd"],
      ["c", "100%"]
    ])
  })

  it("is parsed as JSON only up to the number of values of the largest message", () => {
    assert.isUndefined(parseJson(Buffer.from(`{"a":${"[".repeat(5000)}`)))
    assert.isUndefined(parseJson(Buffer.from(`{"a":[${"1,".repeat(5000)}1]}`)))
    assert.isUndefined(parseJson(Buffer.from(`{${Array.from({ length: 5000 }, (_, at) => `"${at}":1`).join()}}`)))
    assert.isDefined(parseJson(Buffer.from(`{"a":[${"1,".repeat(4000)}1]}`)))
  })
})

layer(layerBothServers, { timeout: "120 seconds" })("the body of a request to Pitboss's own endpoints", (it) => {
  it.effect("is not parsed before the caller is authenticated", () =>
    Effect.gen(function*() {
      const { backofficePort, publicPort } = yield* BothServers
      const { id } = yield* made("/operators", { slug: "strangers", name: "Strangers", currency: "EUR" })
      const operator = yield* made("/keys", { operator: String(id), name: "key" })
      const provider = yield* made("/providers", { slug: "strangers", name: "Strangers" })
      const addresses = strangerAddresses({ operator: operator.key, provider: provider.key })
      const now = Math.floor(Date.now() / 1000)
      const parse = vi.spyOn(JSON, "parse")
      const decode = vi.spyOn(Buffer.prototype, "toString")
      yield* Effect.addFinalizer(() => Effect.sync(() => [parse, decode].forEach((spy) => spy.mockRestore())))
      for (const { headers, name, path, server } of addresses) {
        for (const { body, contentType, name: form } of strangerBodies) {
          const port = server === "public" ? publicPort : backofficePort
          const call = { raw: body, headers: { "content-type": contentType, ...headers(now) } }
          const reply = yield* send(port, path, call)
          assert.include([401, 413, 415], reply.status, `${name}: ${form}`)
        }
      }
      assert.isBelow(Math.max(...parse.mock.calls.map(([text]) => text.length)), strangerBytes / 10)
      assert.isBelow(Math.max(...decode.mock.contexts.map((buffer) => buffer.length)), strangerBytes / 10)
    }))
})
