import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Crypto from "node:crypto"
import { a8rProtocol } from "../../src/protocols/a8r/A8r.ts"
import { gcpProtocol } from "../../src/protocols/gcp/Gcp.ts"
import { pragmaticProtocol } from "../../src/protocols/pragmatic/Pragmatic.ts"
import { pragmaticHash } from "../../src/protocols/pragmatic/PragmaticHash.ts"
import type { AnyProtocol, FreeRoundsOrder, LaunchOrder, VendorRequest } from "../../src/protocols/Protocol.ts"
import { requestSigner } from "../../src/protocols/RequestSign.ts"
import { slotegratorProtocol } from "../../src/protocols/slotegrator/Slotegrator.ts"
import { slotegratorSign } from "../../src/protocols/slotegrator/SlotegratorSign.ts"
import { inSlices, listReader, makeListSum } from "../../src/protocols/VendorCalls.ts"
import { bound, launchOf, noon, vendorAnswering } from "./support.ts"

// Goal: requests to Pragmatic Play, Slotegrator, A8R and GCP are correct and signed, and their answers decoded. Method: a
// vendor that gives prepared answers and records the requests.

const usual = launchOf("t-1")
const order: LaunchOrder = {
  ...usual,
  ip: "198.51.100.7",
  player: { ...usual.player, token: null, birthDate: "1990-01-31" },
  lobbyUrl: "https://casino.example/lobby"
}
const demo: LaunchOrder = { ...order, mode: "demo" }

const freeRounds: FreeRoundsOrder = {
  reference: "fr-1",
  playerRef: "1018",
  currency: "EUR",
  country: "DE",
  language: "de",
  gameId: "gold",
  rounds: 10,
  stake: { coefficient: 2, scale: 1 },
  validUntil: noon + 86_400_000
}

const settings = {
  pragmatic: {
    secret_key: "made-up-secret",
    secure_login: "casino",
    provider_id: "PragmaticPlay",
    games_url: "https://vendor.example/",
    feed_login: "feed",
    feed_password: "feed-password"
  },
  slotegrator: { merchant_id: "merchant-1", merchant_key: "merchant-key", games_url: "https://vendor.example/api/v1" },
  a8r: { auth_token: "test-auth-token-xyz", casino_id: "casino", games_url: "https://vendor.example" },
  gcp: { auth_token: "test-auth-token-xyz", casino_id: "casino", games_url: "https://vendor.example" }
}

describe("lists fetched from vendors", () => {
  // Goal: a list that is read leaves the thread to others. Method: somebody who counts turns beside a long list.
  it.effect("are processed in slices, between which other fibers run", () =>
    Effect.gen(function*() {
      let turns = 0
      const others = yield* Effect.forkChild(
        Effect.forever(Effect.andThen(Effect.sync(() => turns++), Effect.yieldNow))
      )
      const lengths: Array<number> = []
      const taken = yield* inSlices(Array.from({ length: 1001 }, (_, at) => at), (slice) => {
        lengths.push(slice.length)
        return Effect.succeed(slice.map((at) => at * 2))
      })
      yield* Fiber.interrupt(others)
      assert.deepStrictEqual([taken.length, taken[1000]], [1001, 2000])
      assert.isAtMost(Math.max(...lengths), 250)
      assert.isAbove(turns, 0)
    }))

  it.effect("are limited to a total of lines and characters over all answers", () =>
    Effect.gen(function*() {
      const { addAnswer, addLines } = makeListSum("feed", { maxLines: 10, maxBytes: 100 })
      const answer = (length: number) => ({ status: 200, header: () => undefined, body: "x".repeat(length) })
      yield* addAnswer(answer(60))
      yield* addAnswer(answer(40))
      assert.deepInclude(yield* Effect.flip(addAnswer(answer(1))), { word: "the feed has more than 100 characters" })
      yield* addLines(10)
      assert.deepInclude(yield* Effect.flip(addLines(1)), { word: "the feed has more than 10 lines" })
      const read = listReader("feed", Schema.Int, "id")
      const sum = makeListSum("feed", { maxLines: 3, maxBytes: 100 })
      assert.deepStrictEqual((yield* read([1, 2], sum)).taken, [1, 2])
      assert.deepInclude(yield* Effect.flip(read([3, 4], sum)), { word: "the feed has more than 3 lines" })
      const games = Array.from({ length: 50_001 }, () => 1)
      assert.deepInclude(yield* Effect.flip(listReader("catalogue", Schema.Int, "id")(games)), {
        word: "the catalogue has more than 50000 lines"
      })
    }))

  it.effect("fail at 64 MiB for an endless feed of Pragmatic Play, without a partial day", () =>
    Effect.gen(function*() {
      let asked = 0
      const { tools } = vendorAnswering("")
      const endless = {
        ...tools,
        send: () =>
          Effect.sync(() => ({
            status: 200,
            header: () => undefined,
            body: `timepoint=${noon + ++asked}\n${"c".repeat(4_000_000)}`
          }))
      }
      const { feed } = outboundOf(pragmaticProtocol)
      const failure = yield* Effect.flip(
        feed?.({ fromMs: noon, toMs: noon + 86_400_000 }, endless) ?? Effect.die("none")
      )
      assert.deepInclude(failure, { kind: "refused", word: `the feed has more than ${64 * 1024 * 1024} characters` })
      assert.strictEqual(asked, 17)
    }))
})

const outboundOf = (protocol: AnyProtocol) =>
  bound(
    protocol,
    protocol.name === "pragmatic"
      ? settings.pragmatic
      : protocol.name === "slotegrator"
      ? settings.slotegrator
      : settings.a8r
  ).outbound

const formOf = (text: string | undefined): { readonly [name: string]: string } =>
  Object.fromEntries(new URLSearchParams(text ?? ""))

const jsonOf = ({ body }: VendorRequest): unknown => JSON.parse(body ?? "null")

const only = <A>(asked: ReadonlyArray<A>): A => {
  const [first] = asked
  assert(first !== undefined && asked.length === 1)
  return first
}

const assertPragmatic = (fields: { readonly [name: string]: string }) => {
  assert.strictEqual(fields["hash"], pragmaticHash("made-up-secret", Object.entries(fields)))
}

const assertSigned = (request: VendorRequest) => {
  assert.strictEqual(
    request.headers["x-request-sign"],
    requestSigner("test-auth-token-xyz").sign(request.body ?? "")
  )
}

const assertSlotegrator = (request: VendorRequest) => {
  const { headers } = request
  const sent = {
    "X-Merchant-Id": headers["X-Merchant-Id"] ?? "",
    "X-Timestamp": headers["X-Timestamp"] ?? "",
    "X-Nonce": headers["X-Nonce"] ?? ""
  }
  const text = request.method === "GET" ? new URL(request.url).search.slice(1) : request.body
  const key = Crypto.createSecretKey("merchant-key", "utf8")
  assert.strictEqual(sent["X-Timestamp"], String(noon / 1000))
  assert.strictEqual(headers["X-Sign"], slotegratorSign(key, Object.entries(formOf(text)), sent))
}

describe("launches", () => {
  it.effect("Pragmatic Play: game/url with a hash, for a demo without player and token", () =>
    Effect.gen(function*() {
      const { launch } = outboundOf(pragmaticProtocol)
      const { asked, tools } = vendorAnswering({
        error: "0",
        description: "OK",
        gameURL: "https://vendor.example/game?x=1"
      })
      assert.strictEqual(yield* launch(order, tools), "https://vendor.example/game?x=1")
      const request = only(asked)
      assert.strictEqual(request.method, "POST")
      assert.strictEqual(
        request.url,
        "https://vendor.example/IntegrationService/v3/http/CasinoGameAPI/game/url/"
      )
      const { hash: _, ...fields } = formOf(request.body)
      assertPragmatic(formOf(request.body))
      assert.deepStrictEqual(fields, {
        secureLogin: "casino",
        symbol: "gold",
        language: "de",
        externalPlayerId: "1018",
        token: "t-1",
        country: "DE",
        platform: "MOBILE",
        lobbyUrl: "https://casino.example/lobby",
        playMode: "REAL"
      })
      yield* launch(demo, tools)
      const demoFields = formOf(asked[1]?.body)
      assert.deepInclude(demoFields, { playMode: "DEMO" })
      assert.notProperty(demoFields, "token")
      assert.notProperty(demoFields, "externalPlayerId")
    }))

  it.effect("Slotegrator: games/init with the launch token as the session, or games/init-demo", () =>
    Effect.gen(function*() {
      const { launch } = outboundOf(slotegratorProtocol)
      const { asked, tools } = vendorAnswering({ url: "https://vendor.example/game" })
      assert.strictEqual(yield* launch(order, tools), "https://vendor.example/game")
      yield* launch(demo, tools)
      asked.forEach(assertSlotegrator)
      assert.deepStrictEqual(asked.map(({ url }) => url), [
        "https://vendor.example/api/v1/games/init",
        "https://vendor.example/api/v1/games/init-demo"
      ])
      assert.deepStrictEqual(formOf(asked[0]?.body), {
        game_uuid: "gold",
        player_id: "1018",
        player_name: "ada",
        currency: "EUR",
        session_id: "t-1",
        device: "mobile",
        return_url: "https://casino.example/lobby",
        language: "de"
      })
      assert.notProperty(formOf(asked[1]?.body), "player_id")
    }))

  it.effect("A8R: Launcher/Real, or Launcher/Demo without the player", () =>
    Effect.gen(function*() {
      const { launch } = outboundOf(a8rProtocol)
      const { asked, tools } = vendorAnswering({ launch_url: "https://vendor.example/game" })
      assert.strictEqual(yield* launch(order, tools), "https://vendor.example/game")
      yield* launch(demo, tools)
      asked.forEach(assertSigned)
      assert.deepStrictEqual(asked.map(({ url }) => url), [
        "https://vendor.example/v2/casino_a8r.Launcher/Real",
        "https://vendor.example/v2/casino_a8r.Launcher/Demo"
      ])
      assert.deepStrictEqual(asked.slice(0, 1).map(jsonOf), [{
        casino_id: "casino",
        game: "gold",
        client_type: "mobile",
        ip: "198.51.100.7",
        jurisdiction: "DE",
        locale: "de",
        player: {
          id: "1018",
          currency: "EUR",
          country: "DE",
          nickname: "ada",
          date_of_birth: "1990-01-31",
          registered_at: "2026-11-22T12:00:00.000Z"
        },
        urls: { return_url: "https://casino.example/lobby" }
      }])
      assert.notProperty(asked.slice(1).map(jsonOf)[0], "player")
    }))

  it.effect("GCP: sessions, or demo without the player", () =>
    Effect.gen(function*() {
      const { launch } = outboundOf(gcpProtocol)
      const { asked, tools } = vendorAnswering({ launch_options: { game_url: "https://vendor.example/game" } })
      assert.strictEqual(yield* launch(order, tools), "https://vendor.example/game")
      yield* launch(demo, tools)
      asked.forEach(assertSigned)
      assert.deepStrictEqual(asked.map(({ url }) => url), [
        "https://vendor.example/sessions",
        "https://vendor.example/demo"
      ])
      assert.deepInclude(asked.map(jsonOf)[0], { casino_id: "casino", currency: "EUR", client_type: "mobile" })
      assert.notProperty(asked.map(jsonOf)[1], "user")
    }))

  const refusals: ReadonlyArray<readonly [AnyProtocol, unknown, number, string]> = [
    [pragmaticProtocol, { error: "7", description: "Bad game" }, 200, "7 Bad game"],
    [slotegratorProtocol, { name: "Not Found", message: "No such game", status: 404 }, 404, "Not Found No such game"],
    [
      a8rProtocol,
      { code: "not_found", msg: "No", meta: { api_code: "405", api_message: "No game" } },
      400,
      "405 No game"
    ],
    [gcpProtocol, { code: 405, message: "No game" }, 412, "405 No game"]
  ]
  for (const [protocol, body, status, word] of refusals) {
    it.effect(`${protocol.name}: a vendor's refusal is reported with the vendor's code`, () =>
      Effect.gen(function*() {
        const { tools } = vendorAnswering(body, status)
        const failed = yield* Effect.flip(outboundOf(protocol).launch(order, tools))
        assert.deepStrictEqual(failed, { _tag: "VendorFailure", kind: "refused", word })
      }))

    it.effect(`${protocol.name}: an answer that cannot be decoded, and a server error, count as no answer`, () =>
      Effect.gen(function*() {
        const answers = [["<html>", 200], [{}, 200], [body, 503], ["", 200]] as const
        for (const [given, http] of answers) {
          const failed = yield* Effect.flip(outboundOf(protocol).launch(order, vendorAnswering(given, http).tools))
          assert.strictEqual(failed.kind, "unavailable", JSON.stringify(given))
        }
      }))
  }
})

describe("catalogues", () => {
  it.effect("Pragmatic Play: the list of games, with live games recognised by their data type", () =>
    Effect.gen(function*() {
      const { catalogue } = outboundOf(pragmaticProtocol)
      assert(catalogue !== undefined)
      const { asked, tools } = vendorAnswering({
        error: "0",
        gameList: [
          { gameID: "vs1", gameName: "One", typeDescription: "Video Slots", dataType: "RNG" },
          { gameID: "401", gameName: "Baccarat", typeDescription: "Baccarat", dataType: "LC" },
          { gameID: "vs2" },
          { gameID: 402, gameName: "Numbered" },
          null
        ]
      })
      const { games, odd } = yield* catalogue(tools)
      assert.deepStrictEqual(odd?.map(({ id }) => id), ["vs2", "402", null])
      assert.deepStrictEqual(games.map(({ category, externalId, name, type }) => [externalId, name, type, category]), [
        ["vs1", "One", "rng", "Video Slots"],
        ["401", "Baccarat", "live", "Baccarat"]
      ])
      assertPragmatic(formOf(only(asked).body))
    }))

  it.effect("A8R: games of all providers that are released and not recalled", () =>
    Effect.gen(function*() {
      const { catalogue } = outboundOf(a8rProtocol)
      assert(catalogue !== undefined)
      const { asked, tools } = vendorAnswering({
        providers: [{
          image_assets: { base_url: "https://pictures.example/" },
          games: [
            { id: "acme:gold", title: "Gold", category: "slots", live: false, images: { square: "gold.png" } },
            { id: "acme:later", title: "Later", released_at: "2027-01-01T00:00:00Z" },
            { id: "acme:gone", title: "Gone", recalled_at: "2026-01-01T00:00:00Z" },
            { id: "acme:table", title: "Table", live: true },
            { id: "acme:nameless" },
            { id: 7, title: "Numbered" }
          ]
        }, { id: "other" }]
      })
      const { games, odd, withdrawn } = yield* catalogue(tools)
      assert.deepStrictEqual(odd?.map(({ id }) => id), ["other", "acme:nameless", "7"])
      assert.deepStrictEqual(withdrawn?.map(({ id }) => id), ["acme:later", "acme:gone"])
      assert.deepStrictEqual(games, [
        {
          externalId: "acme:gold",
          name: "Gold",
          type: "rng",
          category: "slots",
          rtp: null,
          thumbnailUrl: "https://pictures.example/gold.png"
        },
        { externalId: "acme:table", name: "Table", type: "live", category: "live", rtp: null, thumbnailUrl: null }
      ])
      assertSigned(only(asked))
    }))

  it.effect("Slotegrator: page by page, at one request per second, without pictures", () =>
    Effect.gen(function*() {
      const { catalogue } = outboundOf(slotegratorProtocol)
      assert(catalogue !== undefined)
      const { asked, tools } = vendorAnswering({
        items: [
          {
            uuid: "u1",
            name: "One",
            type: "Live Casino",
            image: "https://x.example/1.png",
            parameters: { rtp: 96.5 }
          },
          { uuid: "nameless" },
          { uuid: 7, name: "Numbered" }
        ],
        _meta: { pageCount: 2 }
      })
      const reading = yield* Effect.forkChild(catalogue(tools))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(asked.length, 1)
      yield* TestClock.adjust("1 second")
      const { games: [first, second], odd } = yield* Fiber.join(reading)
      assert.deepStrictEqual(odd?.map(({ id }) => id), ["nameless", "7", "nameless", "7"])
      assert.deepStrictEqual(first, {
        externalId: "u1",
        name: "One",
        type: "live",
        category: "Live Casino",
        rtp: 96.5,
        thumbnailUrl: null
      })
      assert.isDefined(second)
      asked.forEach(assertSlotegrator)
      assert.deepStrictEqual(asked.map(({ url }) => new URL(url).searchParams.get("page")), ["1", "2"])
    }))

  it("GCP: not available", () => {
    assert.isUndefined(outboundOf(gcpProtocol).catalogue)
  })
})

describe("free rounds", () => {
  const grants = (protocol: AnyProtocol) => {
    const { freeRounds: found } = outboundOf(protocol)
    assert(found !== undefined)
    return found
  }

  it.effect("Pragmatic Play: the reference is the bonus code, the stake the total bet", () =>
    Effect.gen(function*() {
      const { asked, tools } = vendorAnswering({ error: 0 })
      assert.strictEqual(yield* grants(pragmaticProtocol).issue(freeRounds, tools), "fr-1")
      yield* grants(pragmaticProtocol).cancel("fr-1", "1018", tools)
      const [issued, cancelled] = asked
      assert(issued !== undefined && cancelled !== undefined)
      const url = new URL(issued.url)
      assert.strictEqual(url.pathname, "/IntegrationService/v3/http/FreeRoundsBonusAPI/v2/bonus/player/create/")
      assertPragmatic(formOf(url.search))
      assert.deepInclude(formOf(url.search), {
        bonusCode: "fr-1",
        rounds: "10",
        playerId: "1018",
        currency: "EUR",
        startDate: String(noon / 1000),
        expirationDate: String(noon / 1000 + 86_400)
      })
      assert.deepStrictEqual(jsonOf(issued), {
        gameList: [{ gameId: "gold", betValues: [{ totalBet: 0.2, currency: "EUR" }] }]
      })
      assert.match(cancelled.url, /\/FreeRoundsBonusAPI\/v2\/bonus\/cancel\/$/)
      assertPragmatic(formOf(cancelled.body))
    }))

  it.effect("Slotegrator: only stakes that the vendor offers are accepted", () =>
    Effect.gen(function*() {
      const answers = [
        { total_bets: [{ bet_id: 0, amount: 0.1 }, { bet_id: 1, amount: 0.2 }] },
        { bets: [{ bet_id: "7", bet_per_line: 0.01, lines: 20 }] }
      ]
      for (const [place, name] of ["total_bet_id", "bet_id"].entries()) {
        const { asked, tools } = vendorAnswering(answers[place])
        yield* grants(slotegratorProtocol).issue(freeRounds, tools)
        asked.forEach(assertSlotegrator)
        assert.deepInclude(formOf(asked[1]?.body), {
          freespin_id: "fr-1",
          quantity: "10",
          game_uuid: "gold",
          [name]: place === 0 ? "1" : "7"
        })
        const other = { ...freeRounds, stake: { coefficient: 3, scale: 1 } }
        const failed = yield* Effect.flip(grants(slotegratorProtocol).issue(other, tools))
        assert.strictEqual(failed.kind, "refused")
      }
    }))

  it.effect("A8R and GCP: the reference is the issue id, and a cancellation that the vendor refuses is reported as refused", () =>
    Effect.gen(function*() {
      for (const protocol of [a8rProtocol, gcpProtocol]) {
        const { asked, tools } = vendorAnswering({})
        assert.strictEqual(yield* grants(protocol).issue(freeRounds, tools), "fr-1")
        yield* grants(protocol).cancel("fr-1", "1018", tools)
        asked.forEach(assertSigned)
        for (const values of asked.map(jsonOf)) assert.deepInclude(values, { casino_id: "casino", issue_id: "fr-1" })
        assert.deepInclude(asked.map(jsonOf)[0], { freespins_quantity: 10, games: ["gold"] })
        const refusing = vendorAnswering({ code: "620", message: "No", meta: { api_code: "620" } }, 400)
        const failed = yield* Effect.flip(grants(protocol).cancel("fr-1", "1018", refusing.tools))
        assert.strictEqual(failed.kind, "refused")
      }
    }))
})

describe("the Pragmatic Play feed", () => {
  const columns = "playerID,extPlayerID,gameID,playSessionID,parentSessionID,startDate,endDate,status,type,bet,win," +
    "currency,jackpot,bonusCode,bonusBet,bonusWin"
  const day = { fromMs: Date.UTC(2026, 10, 22), toMs: Date.UTC(2026, 10, 23) }
  const line = (round: string, endDate: string, bet: string) =>
    `7,1018,vs1,${round},,2026-11-22 00:00:00,${endDate},C,R,${bet},1.50,EUR,0.00,,0.00,0.00`

  /** A vendor with an answer for each request in turn. */
  const answering = (...pages: ReadonlyArray<string>) => {
    const { tools } = vendorAnswering("")
    const timepoints: Array<string | null> = []
    return {
      timepoints,
      tools: {
        ...tools,
        send: (request: VendorRequest) => {
          const url = new URL(request.url)
          assert.strictEqual(url.pathname, "/IntegrationService/v3/DataFeeds/gamerounds/finished/")
          assert.deepInclude(Object.fromEntries(url.searchParams), { login: "feed", password: "feed-password" })
          timepoints.push(url.searchParams.get("timepoint"))
          return Effect.succeed({ status: 200, header: () => undefined, body: pages[timepoints.length - 1] ?? "" })
        }
      }
    }
  }

  const read = (...pages: ReadonlyArray<string>) => {
    const { feed } = outboundOf(pragmaticProtocol)
    assert(feed !== undefined)
    const { timepoints, tools } = answering(...pages)
    return Effect.map(Effect.result(feed(day, tools)), (result) => ({ result, timepoints }))
  }

  it.effect("is read from each returned timepoint to the next, and yields each round of the requested day exactly once", () =>
    Effect.gen(function*() {
      const middle = day.fromMs + 3_600_000
      const { result, timepoints } = yield* read(
        [
          `timepoint=${middle}`,
          columns,
          line("1", "2026-11-22 00:30:00", "2.00"),
          line("0", "2026-11-21 23:59:59", "9")
        ]
          .join("\n"),
        [
          `timepoint=${day.toMs}`,
          columns,
          line("1", "2026-11-22 00:30:00", "2.00"),
          line("\"2\"", "2026-11-22 23:59:59", "3.00"),
          line("3", "2026-11-23 00:00:00", "4.00")
        ].join("\r\n")
      )
      assert.deepStrictEqual(timepoints, [String(day.fromMs), String(middle)])
      assert(Result.isSuccess(result))
      assert.deepStrictEqual(result.success, {
        by: "round",
        odd: [],
        lines: ([["1", 2], ["2", 3]] as const).map(([roundId, bet]) => ({
          roundId,
          gameId: "vs1",
          playerRef: "1018",
          bet: { coefficient: bet, scale: 0 },
          win: { coefficient: 15, scale: 1 },
          currency: "EUR"
        }))
      })
    }))

  it.effect("is read line by line, and malformed lines of any day are reported once with their reason", () =>
    Effect.gen(function*() {
      const good = line("1", "2026-11-22 00:30:00", "2")
      const odd = [
        line("2", "", "2"),
        line("3", "yesterday", "2"),
        line("4", "2026-11-22 00:30:00", ""),
        line("5", "2026-11-22 00:30:00", "two"),
        line("", "2026-11-22 00:30:00", "2"),
        good.replace("1018", ""),
        good.replace("1.50", ""),
        good.replace("EUR", ""),
        "<html>"
      ]
      const { result } = yield* read(
        [`timepoint=${day.fromMs + 1}`, columns, ...odd, good].join("\n"),
        [`timepoint=${day.toMs}`, columns, ...odd].join("\n")
      )
      assert(Result.isSuccess(result))
      assert.strictEqual(result.success.lines.length, 1)
      assert.deepStrictEqual(result.success.odd?.map(({ id, reason }) => `${id} ${reason}`), [
        "vs1/2 endDate: missing",
        "vs1/3 endDate: malformed",
        "vs1/4 bet: missing",
        "vs1/5 bet: malformed",
        "null playSessionID: missing",
        "vs1/1 extPlayerID: missing",
        "vs1/1 win: missing",
        "vs1/1 currency: missing",
        "null endDate: missing"
      ])
    }))

  it.effect("fails when it cannot be decoded", () =>
    Effect.gen(function*() {
      const unreadable = ["", "<html>", columns, `timepoint=soon\n${columns}\n`]
      for (const page of unreadable) {
        const { result } = yield* read(page)
        assert(Result.isFailure(result), page)
        assert.strictEqual(result.failure.kind, "unavailable")
      }
    }))
})
