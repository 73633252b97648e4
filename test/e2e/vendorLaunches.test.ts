import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Http from "node:http"
import type { Message, ProviderServer, Session } from "../../scripts/simulators/Dialect.ts"
import { layerBothServers } from "../kit/Backoffice.ts"
import { BothServers, dataOf, made, openCasino, outcomeOf } from "../kit/Casino.ts"
import { makeAgent } from "../kit/HttpCalls.ts"
import { listening } from "../kit/Listening.ts"
import { play, vendorCaseAt } from "../kit/Vendors.ts"
import { messagesOf } from "../kit/VendorTables.ts"

// Goal: the right to play at a vendor begins with its answer to a launch, and ends with one that fails. Method: each vendor's own server, which answers
// as its description says, refuses in its form or breaks off, and plays while it is asked; bets, settlements and money over HTTP.

interface Row {
  /** The vendor's refusal of a launch, and what the operator hears of it. */
  readonly refusal: { readonly status: number; readonly body: unknown; readonly word: string }
  /** Answer to a bet without the right to play. */
  readonly refused: string
}

const rows: { readonly [name: string]: Row } = {
  hub88: {
    refusal: { status: 400, body: { error: "RS_ERROR_INVALID_GAME" }, word: "RS_ERROR_INVALID_GAME" },
    refused: "RS_ERROR_TOKEN_EXPIRED"
  },
  caleta: {
    refusal: {
      status: 404,
      body: { error: "The operator_id does not correspond to any existing Operator." },
      word: "The operator_id does not correspond to any existing Operator."
    },
    refused: "RS_ERROR_TOKEN_EXPIRED"
  },
  pragmatic: {
    refusal: { status: 200, body: { error: "8", description: "Game is not found" }, word: "8 Game is not found" },
    refused: "4"
  },
  slotegrator: {
    refusal: {
      status: 404,
      body: { name: "Not Found", message: "Game is not available" },
      word: "Not Found Game is not available"
    },
    refused: "INTERNAL_ERROR"
  },
  a8r: {
    refusal: {
      status: 400,
      body: { code: "invalid_argument", msg: "x", meta: { api_code: "405", api_message: "Game is not available" } },
      word: "405 Game is not available"
    },
    refused: "101"
  },
  gcp: {
    refusal: { status: 412, body: { code: 405, message: "Game is not available" }, word: "405 Game is not available" },
    refused: "101"
  },
  evolution: {
    refusal: {
      status: 400,
      body: { errors: [{ code: "G.9", message: "Clients IP address have been rejected" }] },
      word: "G.9 Clients IP address have been rejected"
    },
    refused: "INVALID_SID"
  }
}

/** A vendor's server, whose next answer and what it does before are set by the test. */
const openVendorServer = Effect.fnUntraced(function*(name: string, gameId: string) {
  const sessions: Array<Session> = []
  const vendor = {
    sessions,
    answer: "good" as "good" | "refusal" | "silence",
    before: (): Promise<unknown> => Promise.resolve()
  }
  const server = Http.createServer((request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      const url = new URL(request.url ?? "", address)
      const good = vendorCase.dialect.serve({
        method: request.method ?? "",
        path: url.pathname,
        query: url.searchParams,
        header: (header) => request.headers[header.toLowerCase()]?.toString(),
        body,
        now: Date.now()
      }, providerServer)
      void vendor.before().then(() => {
        const { answer } = vendor
        if (answer === "silence" || good === undefined) return response.destroy()
        const { refusal } = rows[name] ?? assert.fail(name)
        return answer === "good"
          ? response.writeHead(good.status).end(good.body)
          : response.writeHead(refusal.status).end(JSON.stringify(refusal.body))
      })
    })
  })
  const port = yield* listening(server, () => server.closeAllConnections())
  const address = `http://127.0.0.1:${port}`
  const vendorCase = vendorCaseAt(name, address)
  const providerServer: ProviderServer = {
    url: address,
    games: [{ id: gameId, name: "Table" }],
    open: (session) => {
      sessions.push(session)
      return `${address}/play`
    },
    grants: new Map(),
    played: () => [],
    newId: () => "id"
  }
  return { vendor, vendorCase }
})

let count = 0

/** A player with 100.00 EUR, the game of a vendor, and the vendor's calls. */
const openLaunches = Effect.fnUntraced(function*(name: string) {
  const { publicPort } = yield* BothServers
  const slug = `launch-${name}-${++count}`
  const gameId = `${slug}-table`
  const { vendor, vendorCase } = yield* openVendorServer(name, gameId)
  const { dialect, protocol, settings } = vendorCase
  const { id: providerId } = yield* made("/providers", { slug, name: slug, protocol, settings })
  const game = yield* made("/games", { provider: slug, external_id: gameId, name: "Table" })
  const casino = yield* openCasino()
  const { id: player } = yield* casino.register()
  dataOf(yield* casino.deposit(player, 10_000), 201)
  const caller = {
    id: Number(providerId),
    slug,
    dialect,
    port: publicPort,
    agent: yield* makeAgent(),
    game: { id: Number(game.id), externalId: gameId }
  }
  let calls = 0
  const send = (session: Session, message: Message) =>
    Effect.map(play(caller, session, message, `call-${++calls}`), (answer) => {
      assert.deepStrictEqual(answer.problems, [])
      return answer
    })
  /** The session as the vendor has it once it asked whose it is. */
  const entered = Effect.fnUntraced(function*(session: Session) {
    if (dialect.authenticate === "none") return session
    const answer = yield* send(session, { kind: "authenticate" })
    assert.include(dialect.expect("authenticate", "new").codes, answer.code, answer.text)
    const { playerRef = session.playerRef, token = session.token } = answer
    return { ...session, playerRef, token }
  })
  const money = Effect.map(casino.balances(player), ([real]) => real)
  return {
    vendor,
    dialect,
    send,
    entered,
    money,
    launch: casino.launch(player, {}, game),
    latest: () => vendor.sessions.at(-1) ?? assert.fail("no launch"),
    ...messagesOf(dialect, gameId)
  }
})

layer(layerBothServers, { excludeTestServices: true, timeout: "60 seconds" })("the right to play", (it) => {
  for (const [name, { refusal, refused }] of Object.entries(rows)) {
    it.effect(`at ${name} does not begin when the vendor refuses the launch or does not answer`, () =>
      Effect.scoped(Effect.gen(function*() {
        const { bet, dialect, entered, latest, launch, money, rollback, send, vendor, win } = yield* openLaunches(name)
        vendor.answer = "refusal"
        const said = yield* launch
        assert.strictEqual(outcomeOf(said), "GAME_UNAVAILABLE")
        assert.deepStrictEqual(said.details, { vendor: refusal.word })
        assert.strictEqual((yield* send(latest(), bet("b1"))).code, refused)
        vendor.answer = "silence"
        assert.strictEqual(outcomeOf(yield* launch), "TRY_AGAIN")
        assert.strictEqual((yield* send(latest(), bet("b2"))).code, refused)
        assert.strictEqual(yield* money, 10_000)

        vendor.answer = "good"
        assert.strictEqual(outcomeOf(yield* launch), 200)
        const session = yield* entered(latest())
        const [won, taken] = [bet("b3"), bet("b4")]
        for (const message of [won, taken]) {
          assert.include(dialect.expect("bet", "new").codes, (yield* send(session, message)).code)
        }
        // one that fails gives back the right of the one before
        vendor.answer = "refusal"
        assert.strictEqual(outcomeOf(yield* launch), "GAME_UNAVAILABLE")
        assert.include(dialect.expect("bet", "new").codes, (yield* send(session, bet("b5"))).code)
        const failed = { ...latest(), playerRef: session.playerRef }
        assert.include(dialect.expect("win", "new").codes, (yield* send(failed, win("w3", won))).code)
        assert.include(dialect.expect("rollback", "new").codes, (yield* send(failed, rollback("r4", taken))).code)
        assert.strictEqual(yield* money, 10_000 - 1050 + 2500 - 1050)
      })))

    it.effect(`at ${name} begins with the vendor's answer: until then the player is identified, and bets are answered "try again"`, () =>
      Effect.scoped(Effect.gen(function*() {
        const { bet, dialect, entered, latest, launch, money, send, vendor } = yield* openLaunches(name)
        const run = Effect.runPromiseWith(yield* Effect.context<BothServers>())
        /** What the vendor does before it answers a launch. */
        const meanwhile = (id: string) => {
          let session: Session | undefined
          vendor.before = () =>
            run(Effect.gen(function*() {
              session = yield* entered(latest())
              const answer = yield* send(session, bet(id))
              assert.isTrue(answer.retry, answer.text)
            })).catch((cause: unknown) => {
              session = undefined
              throw cause
            })
          return () => session ?? assert.fail("the vendor was not served while it was asked")
        }
        const first = meanwhile("b1")
        vendor.answer = "refusal"
        assert.strictEqual(outcomeOf(yield* launch), "GAME_UNAVAILABLE")
        assert.strictEqual((yield* send(first(), bet("b1"))).code, refused)
        if (dialect.authenticate === "exchanges") {
          const again = yield* send(latest(), { kind: "authenticate" })
          assert.notInclude(dialect.expect("authenticate", "new").codes, again.code)
        }
        assert.strictEqual(yield* money, 10_000)

        const second = meanwhile("b2")
        vendor.answer = "good"
        assert.strictEqual(outcomeOf(yield* launch), 200)
        assert.include(dialect.expect("bet", "new").codes, (yield* send(second(), bet("b2"))).code)
        assert.strictEqual(yield* money, 10_000 - 1050)
      })))
  }
})
