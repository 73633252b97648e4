import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { OperatorApi, PlayerApi } from "../../src/contract/Api.ts"
import { BackofficeApi } from "../../src/contract/StaffApi.ts"
import { fieldsOfQuery, nearestParameter } from "../../src/http/QueryParameters.ts"
import { layerCasinos } from "../kit/Backoffice.ts"
import { type Casino, dataOf, openCasino, staffCall } from "../kit/Casino.ts"
import { browserCall, plainCall, signedCall } from "../kit/HttpCalls.ts"

// Goal: no read is answered as if a parameter that nobody knows had not been sent. Method: a walk over the three contracts, each read with an
// invented name and with each of its own; the names that people mistake one by one.

interface Read {
  readonly path: string
  readonly names: ReadonlyArray<string>
}

const readsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<Read> => {
  const reads: Array<Read> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path, query }, group }) => {
      // sign-in takes whatever links add
      if (method !== "GET" || group.identifier === "sign_in") return
      reads.push({ path, names: fieldsOfQuery(query) })
    }
  })
  return reads
}

const unknownName = "is not a known parameter"

const messagesAbout = (details: { readonly [name: string]: unknown } | undefined, name: string): string =>
  JSON.stringify(details?.[name] ?? "")

const session = Effect.fnUntraced(function*({ post, register, slots }: Casino) {
  const { id } = yield* register()
  const { token } = dataOf(yield* post(`/players/${id}/session-tokens`), 201)
  const filled = (path: string): string =>
    path.replaceAll(/:(\w+)/g, (_, name: string) => name === "player" ? id : name === "game" ? String(slots.id) : "1")
  return { id, token, filled }
})

layer(layerCasinos, { excludeTestServices: true })("query parameters", (it) => {
  it.effect(
    "that an operation does not declare are refused by name, on every read endpoint of the three APIs",
    Effect.fnUntraced(function*() {
      const casino = yield* openCasino()
      const sandbox = yield* openCasino({ is_sandbox: true })
      const { filled, token } = yield* session(casino)
      const player = "/api/v1/player"
      const asked = [
        ...readsOf(OperatorApi).map((read) => ({
          ...read,
          call: (uri: string) => signedCall((uri.includes("/sandbox/") ? sandbox : casino).signer, uri)
        })),
        ...readsOf(PlayerApi).map((read) => ({
          ...read,
          call: (uri: string) => browserCall(token, uri.slice(player.length))
        })),
        ...readsOf(BackofficeApi).map((read) => ({ ...read, call: (uri: string) => staffCall("GET", uri) }))
      ]
      assert.isAbove(asked.length, 60)
      for (const { call, names, path } of asked) {
        const invented = yield* call(`${filled(path)}?invented=1&_=2&utm_source=3&X-Trace=4&format=json`)
        assert.deepStrictEqual([path, invented.status, invented.code], [path, 422, "VALIDATION_FAILED"])
        assert.include(messagesAbout(invented.details, "invented"), unknownName, path)
        assert.notInclude(JSON.stringify(invented.details), "utm_source", path)
        if (names.length === 0) continue
        const own = yield* call(
          `${filled(path)}?${
            names.filter((name) => name !== "format").map((name) => `${name}=%00`).join("&")
          }&format=JSON`
        )
        assert.strictEqual(own.status, 422, path)
        assert.notInclude(JSON.stringify(own.details), unknownName, path)
        assert.match(messagesAbout(own.details, "format"), /must be one of: [a-z, ]*csv/, path)
      }
    }),
    120_000
  )

  it.effect(
    "that are misspelled are refused with the intended name, together with invalid values, unless the path is unknown",
    Effect.fnUntraced(function*() {
      const casino = yield* openCasino()
      const { id } = yield* session(casino)
      const details = (uri: string) => Effect.map(casino.get(uri), (answer) => [answer.status, answer.details])
      const meant = (name: string) => [`${unknownName}: do you mean ${name}?`]
      assert.deepStrictEqual(yield* details("/payments?playerid=5"), [422, { playerid: meant("player_id") }])
      assert.deepStrictEqual(yield* details("/payments?player_id[]=5"), [422, { "player_id[]": meant("player_id") }])
      assert.deepStrictEqual(
        yield* details("/players?created_after=2026-01-01T00:00:00Z&perPage=5&per_page=0"),
        [422, {
          created_after: meant("created_from"),
          perPage: meant("per_page"),
          per_page: ["must be between 1 and 100"]
        }]
      )
      assert.deepStrictEqual(yield* details("/players?status=active&status=locked"), [422, {
        status: ["must be sent once"]
      }])
      assert.deepStrictEqual((yield* casino.get("/players/999999999?expand=wallet")).code, "NOT_FOUND")
      assert.deepStrictEqual((yield* casino.get("/players/x?expand=wallet")).code, "NOT_FOUND")
      assert.deepStrictEqual(yield* details(`/players/${id}?expand=wallet`), [422, { expand: [unknownName] }])
      assert.deepStrictEqual(
        yield* details("/reports/ggr?from=2026-1-1&to=2026-01-02&include_test_players=yes"),
        [422, { from: ["must be a date like 1990-12-31"], include_test_players: ["must be one of: true, false"] }]
      )
      const below = `/players/${id}/transactions/`
      for (const empty of ["/players/", "/payments/?page=1", "/games/", below, `${below}?per_page=1`]) {
        assert.strictEqual((yield* casino.get(empty)).code, "NOT_FOUND", empty)
      }
      assert.strictEqual((yield* staffCall("GET", "/backoffice/v1/players/")).code, "NOT_FOUND")
      const staffed = yield* staffCall("GET", `/backoffice/v1/payments?operator_id=${casino.slug}&format=CSV`)
      assert.deepStrictEqual(staffed.details, {
        operator_id: meant("operator"),
        format: ["must be one of: csv, spreadsheet, json"]
      })
      assert.strictEqual((yield* casino.get("/players?utm_source=x&x-id=1&_=2&format=json&")).status, 200)
      assert.strictEqual((yield* plainCall("/health/live?invented=1")).status, 200)
    })
  )

  it("that resemble a declared name are refused with that name as a suggestion", () => {
    const known = ["page", "per_page", "operator", "player_id", "created_from", "created_to", "search", "status"]
    const sent = [
      "Per-Page",
      "limit",
      "operatorId",
      "player",
      "createdFrom",
      "until",
      "q",
      "stauts",
      "statuses",
      "x",
      "[]",
      "colour"
    ]
    assert.deepStrictEqual(sent.map((name) => nearestParameter(name, known)), [
      "per_page",
      "per_page",
      "operator",
      "player_id",
      "created_from",
      "created_to",
      "search",
      "status",
      "status",
      undefined,
      undefined,
      undefined
    ])
  })
})
