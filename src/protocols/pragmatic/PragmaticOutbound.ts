/** Calls to Pragmatic Play: launch, catalogue, free rounds, the feed of finished rounds. */
import { Effect, Schema } from "effect"
import { decimalText } from "../Decimal.ts"
import type { FormEntries } from "../FormBody.ts"
import type {
  CatalogueGame,
  Feed,
  FeedRound,
  FreeRoundsOrder,
  LaunchOrder,
  LeftLine,
  Outbound,
  VendorFailure,
  VendorTools
} from "../Protocol.ts"
import {
  answerReader,
  browserAddress,
  listReader,
  makeListSum,
  refusedByVendor,
  unavailableVendor,
  vendorUrl
} from "../VendorCalls.ts"
import { readFeedPage } from "./PragmaticFeed.ts"
import { pragmaticHash } from "./PragmaticHash.ts"
import type { PragmaticSettings } from "./PragmaticSettings.ts"

const service = "/IntegrationService/v3"

/** Zero means success; some services send it as a string. */
const outcome = { error: Schema.Union([Schema.String, Schema.Number]), description: Schema.optional(Schema.String) }

const Outcome = Schema.Struct(outcome)

const Launched = Schema.Struct({ ...outcome, gameURL: Schema.optional(Schema.String) })

const Games = Schema.Struct({
  ...outcome,
  gameList: Schema.optional(Schema.Array(Schema.Unknown))
})

const Game = Schema.Struct({
  gameID: Schema.String,
  gameName: Schema.String,
  typeDescription: Schema.optional(Schema.NullOr(Schema.String)),
  /** `RNG`, `LC` (live casino), … */
  dataType: Schema.optional(Schema.NullOr(Schema.String))
})

const readOutcome = answerReader(Outcome)
const readLaunched = answerReader(Launched)
const readGames = answerReader(Games)
const readGameList = listReader("catalogue", Game, "gameID")

type Said = typeof Outcome.Type

/** Fails with the vendor's code unless it is zero. */
const accepted = <A extends Said>(said: A): Effect.Effect<A, VendorFailure> =>
  String(said.error) === "0"
    ? Effect.succeed(said)
    : Effect.fail(refusedByVendor(said.error, said.description))

const platformOf = (platform: string | null): string => platform === "mobile" ? "MOBILE" : "WEB"

const isLive = (type: string, dataType: string): boolean => dataType === "LC" || /\blive\b/i.test(type)

const toGame = (game: typeof Game.Type): CatalogueGame => {
  const category = game.typeDescription ?? ""
  return {
    externalId: game.gameID,
    name: game.gameName,
    type: isLive(category, game.dataType ?? "") ? "live" : "rng",
    category: category === "" ? "slots" : category,
    rtp: null,
    thumbnailUrl: null
  }
}

/** Maximum requests per day of the feed: more than one every two minutes. */
const maxFeedPages = 1_000

const seconds = (milliseconds: number): string => String(Math.floor(milliseconds / 1000))

/** Outbound calls for the settings of one provider. */
export const pragmaticOutbound = (settings: PragmaticSettings): Outbound => {
  /** Parameters with their hash; empty ones are omitted. */
  const signed = (given: FormEntries): URLSearchParams => {
    const entries = given.filter(([, value]) => value !== "")
    const parameters = new URLSearchParams(Object.fromEntries(entries))
    parameters.append("hash", pragmaticHash(settings.secret_key, entries))
    return parameters
  }

  const post = (tools: VendorTools, path: string, entries: FormEntries, isList = false) =>
    tools.send({
      ...isList && { isList },
      method: "POST",
      url: vendorUrl(settings.games_url, `${service}/http/${path}`),
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: signed([["secureLogin", settings.secure_login], ...entries]).toString()
    })

  const launch = (order: LaunchOrder, tools: VendorTools) => {
    const { player } = order
    const isDemo = order.mode === "demo"
    const entries: FormEntries = [
      ["symbol", order.gameId],
      ["language", player.language],
      // a demo has neither player nor wallet
      ["externalPlayerId", isDemo ? "" : player.playerRef],
      ["token", isDemo ? "" : order.token],
      ["country", player.country],
      ["platform", platformOf(order.platform)],
      ["lobbyUrl", order.lobbyUrl ?? ""],
      ["cashierUrl", order.depositUrl ?? ""],
      ["playMode", isDemo ? "DEMO" : "REAL"]
    ]
    return post(tools, "CasinoGameAPI/game/url/", entries).pipe(
      Effect.flatMap(readLaunched),
      Effect.flatMap(accepted),
      Effect.flatMap(({ gameURL }) =>
        gameURL === undefined
          ? Effect.fail(unavailableVendor("no address in the answer"))
          : browserAddress(gameURL, settings.games_url)
      )
    )
  }

  const catalogue = (tools: VendorTools) =>
    post(tools, "CasinoGameAPI/getCasinoGames/", [["options", "GetDataTypes"]], true).pipe(
      Effect.flatMap(readGames),
      Effect.flatMap(accepted),
      Effect.flatMap(({ gameList = [] }) => readGameList(gameList)),
      Effect.map(({ odd, taken }) => ({ games: taken.map(toGame), odd }))
    )

  /** Our reference is the bonus code, repeated by `bonusWin`. */
  const issue = (order: FreeRoundsOrder, tools: VendorTools) => {
    const parameters = signed([
      ["secureLogin", settings.secure_login],
      ["bonusCode", order.reference],
      ["startDate", seconds(tools.now())],
      ["expirationDate", seconds(order.validUntil)],
      ["rounds", String(order.rounds)],
      ["playerId", order.playerRef],
      ["currency", order.currency]
    ])
    const { currency, gameId, stake } = order
    const request = {
      method: "POST",
      url: vendorUrl(
        settings.games_url,
        `${service}/http/FreeRoundsBonusAPI/v2/bonus/player/create/?${parameters.toString()}`
      ),
      headers: { "content-type": "application/json" },
      body: `{"gameList":[{"gameId":${JSON.stringify(gameId)},"betValues":[{"totalBet":${decimalText(stake)},` +
        `"currency":${JSON.stringify(currency)}}]}]}`
    } as const
    return tools.send(request).pipe(
      Effect.flatMap(readOutcome),
      Effect.flatMap(accepted),
      Effect.as(order.reference)
    )
  }

  const cancel = (reference: string, _playerRef: string, tools: VendorTools) =>
    post(tools, "FreeRoundsBonusAPI/v2/bonus/cancel/", [["bonusCode", reference]]).pipe(
      Effect.flatMap(readOutcome),
      Effect.flatMap(accepted),
      Effect.asVoid
    )

  const feedPage = (timepoint: number, tools: VendorTools) => {
    const parameters = new URLSearchParams({
      login: settings.feed_login,
      password: settings.feed_password,
      timepoint: String(timepoint)
    })
    return tools.send({
      isList: true,
      method: "GET",
      url: vendorUrl(settings.games_url, `${service}/DataFeeds/gamerounds/finished/?${parameters.toString()}`),
      headers: {}
    })
  }

  /** Follows the timepoints from the beginning of the day to its end; a round in two answers counts once. All of it, or a failure. */
  const feed = Effect.fnUntraced(
    function*(day: { readonly fromMs: number; readonly toMs: number }, tools: VendorTools) {
      const rounds = new Map<string, FeedRound>()
      const odd = new Map<string, LeftLine>()
      const sum = makeListSum("feed")
      let timepoint = day.fromMs
      for (let page = 0; page < maxFeedPages; page++) {
        const answer = yield* feedPage(timepoint, tools)
        yield* sum.addAnswer(answer)
        const found = yield* readFeedPage(answer.body)
        yield* sum.addLines(found.rounds.length + found.odd.length)
        for (const { endedAt, ...round } of found.rounds) {
          if (endedAt >= day.fromMs && endedAt < day.toMs) {
            rounds.set(`${round.gameId}\n${round.roundId}\n${round.playerRef}`, round)
          }
        }
        for (const { line, ...left } of found.odd) odd.set(line, left)
        if (found.timepoint >= day.toMs || found.timepoint <= timepoint) {
          const read: Feed = { by: "round", lines: [...rounds.values()], odd: [...odd.values()] }
          return read
        }
        timepoint = found.timepoint
      }
      return yield* Effect.fail(unavailableVendor("the feed never ends"))
    }
  )

  return { launch, catalogue, freeRounds: { issue, cancel }, feed }
}
