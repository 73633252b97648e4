/** Calls to Slotegrator GIS: launch, catalogue, free spins. */
import * as Crypto from "node:crypto"
import { Effect, Schema } from "effect"
import { type Decimal, parseDecimal } from "../Decimal.ts"
import type { FormEntries } from "../FormBody.ts"
import type {
  CatalogueGame,
  FreeRoundsOrder,
  LaunchOrder,
  LeftLine,
  Outbound,
  VendorFailure,
  VendorResponse,
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
import type { SlotegratorSettings } from "./SlotegratorSettings.ts"
import { slotegratorSign } from "./SlotegratorSign.ts"

const Failed = Schema.Struct({ message: Schema.optional(Schema.String), name: Schema.optional(Schema.String) })

const Launched = Schema.Struct({ url: Schema.String })

const Listed = Schema.Struct({
  items: Schema.Array(Schema.Unknown),
  _meta: Schema.optional(Schema.Struct({ pageCount: Schema.Number }))
})

const Game = Schema.Struct({
  uuid: Schema.String,
  name: Schema.String,
  type: Schema.optional(Schema.NullOr(Schema.String)),
  parameters: Schema.optional(Schema.Unknown)
})

const Bets = Schema.Struct({
  total_bets: Schema.optional(Schema.NullOr(Schema.Array(Schema.Struct({
    bet_id: Schema.Union([Schema.Number, Schema.String]),
    amount: Schema.Union([Schema.Number, Schema.String])
  })))),
  bets: Schema.optional(Schema.NullOr(Schema.Array(Schema.Struct({
    bet_id: Schema.Union([Schema.Number, Schema.String]),
    bet_per_line: Schema.Union([Schema.Number, Schema.String]),
    lines: Schema.optional(Schema.NullOr(Schema.Number))
  }))))
})

const readFailed = answerReader(Failed)
const readLaunched = answerReader(Launched)
const readListed = answerReader(Listed)
const readGames = listReader("catalogue", Game, "uuid")
const readBets = answerReader(Bets)

/** Maximum pages of the catalogue, 50 games each. */
const maxPages = 1_000

/** In production the vendor allows one request a second. */
const pause = "1100 millis"

/** Passes a successful answer on; a refusal fails with the vendor's code. */
const accepted = (response: VendorResponse): Effect.Effect<VendorResponse, VendorFailure> => {
  if (response.status >= 500 || response.status === 429) {
    return Effect.fail(unavailableVendor(`HTTP ${response.status}`))
  }
  return response.status < 400
    ? Effect.succeed(response)
    : Effect.flatMap(
      readFailed(response),
      ({ message, name }) =>
        Effect.fail(refusedByVendor(name ?? (message === undefined ? `HTTP ${response.status}` : ""), message))
    )
}

/** Return to player in percent, if among the parameters. */
const rtpOf = (parameters: unknown): number | null => {
  if (typeof parameters !== "object" || parameters === null || !("rtp" in parameters)) return null
  return typeof parameters.rtp === "number" && parameters.rtp > 0 && parameters.rtp <= 100 ? parameters.rtp : null
}

/** Pictures are not licensed for publication, so none is stored. */
const toGame = ({ name, parameters, type, uuid }: typeof Game.Type): CatalogueGame => ({
  externalId: uuid,
  name,
  type: /\blive\b/i.test(type ?? "") ? "live" : "rng",
  category: type ?? "slots",
  rtp: rtpOf(parameters),
  thumbnailUrl: null
})

const isSame = (one: Decimal, other: Decimal | undefined): boolean =>
  one.coefficient === other?.coefficient && one.scale === other.scale

/** The vendor's field for a stake per spin: a total, otherwise a stake per line. */
const stakeField = (
  { bets, total_bets: totals }: typeof Bets.Type,
  stake: Decimal
): readonly [name: string, value: string] | undefined => {
  const total = totals?.find(({ amount }) => isSame(stake, parseDecimal(String(amount))))
  if (total !== undefined) return ["total_bet_id", String(total.bet_id)]
  const lined = bets?.find(({ bet_per_line: perLine, lines }) => {
    const each = parseDecimal(String(perLine))
    return each !== undefined &&
      isSame(stake, parseDecimal((each.coefficient * (lines ?? 1) / 10 ** each.scale).toFixed(each.scale)))
  })
  return lined === undefined ? undefined : ["bet_id", String(lined.bet_id)]
}

const seconds = (milliseconds: number): string => String(Math.floor(milliseconds / 1000))

/** Outbound calls for the settings of one provider. */
export const slotegratorOutbound = (settings: SlotegratorSettings): Outbound => {
  const key = Crypto.createSecretKey(settings.merchant_key, "utf8")

  const call = (
    tools: VendorTools,
    method: "GET" | "POST",
    path: string,
    given: ReadonlyArray<readonly [name: string, value: string | null]>,
    isList = false
  ) => {
    const entries: FormEntries = given.flatMap(([name, value]) => value === null ? [] : [[name, value] as const])
    const headers = {
      "X-Merchant-Id": settings.merchant_id,
      "X-Timestamp": seconds(tools.now()),
      "X-Nonce": tools.uuid().replaceAll("-", "")
    }
    const text = new URLSearchParams(Object.fromEntries(entries)).toString()
    const signed = { ...headers, "X-Sign": slotegratorSign(key, entries, headers), accept: "application/json" }
    const url = vendorUrl(settings.games_url, path)
    return Effect.flatMap(
      method === "GET"
        ? tools.send({ ...isList && { isList }, method, url: text === "" ? url : `${url}?${text}`, headers: signed })
        : tools.send({
          method,
          url,
          headers: { ...signed, "content-type": "application/x-www-form-urlencoded" },
          body: text
        }),
      accepted
    )
  }

  const launch = (order: LaunchOrder, tools: VendorTools) => {
    const { player } = order
    const device = order.platform === "mobile" ? "mobile" : "desktop"
    const shared = [["device", device], ["return_url", order.lobbyUrl], ["language", player.language]] as const
    const asked = order.mode === "demo"
      ? call(tools, "POST", "/games/init-demo", [["game_uuid", order.gameId], ...shared])
      : call(tools, "POST", "/games/init", [
        ["game_uuid", order.gameId],
        ["player_id", player.playerRef],
        ["player_name", player.username],
        ["currency", player.currency],
        ["session_id", order.token],
        ...shared
      ])
    return asked.pipe(
      Effect.flatMap(readLaunched),
      Effect.flatMap(({ url }) => browserAddress(url, settings.games_url))
    )
  }

  /** Page by page, within the vendor's rate limit. */
  const catalogue = Effect.fnUntraced(function*(tools: VendorTools) {
    const games: Array<CatalogueGame> = []
    const odd: Array<LeftLine> = []
    const sum = makeListSum("catalogue")
    for (let page = 1; page <= maxPages; page++) {
      if (page > 1) yield* Effect.sleep(pause)
      const answer = yield* call(tools, "GET", "/games", [["expand", "parameters"], ["page", String(page)]], true)
      yield* sum.addAnswer(answer)
      const listed = yield* readListed(answer)
      const read = yield* readGames(listed.items, sum)
      for (const game of read.taken) games.push(toGame(game))
      for (const line of read.odd) odd.push(line)
      if (listed.items.length === 0 || page >= (listed._meta?.pageCount ?? 1)) return { games, odd }
    }
    return yield* Effect.fail(unavailableVendor("the catalogue never ends"))
  })

  const issue = Effect.fnUntraced(function*(order: FreeRoundsOrder, tools: VendorTools) {
    const { currency, gameId } = order
    const bets = yield* Effect.flatMap(
      call(tools, "GET", "/freespins/bets", [["game_uuid", gameId], ["currency", currency]]),
      readBets
    )
    const stake = stakeField(bets, order.stake)
    if (stake === undefined) return yield* Effect.fail(refusedByVendor("no free spins of this stake for the game"))
    yield* call(tools, "POST", "/freespins/set", [
      ["player_id", order.playerRef],
      ["player_name", order.playerRef],
      ["currency", currency],
      ["quantity", String(order.rounds)],
      ["valid_from", seconds(tools.now())],
      ["valid_until", seconds(order.validUntil)],
      ["freespin_id", order.reference],
      stake,
      ["game_uuid", gameId]
    ])
    return order.reference
  })

  const cancel = (reference: string, _playerRef: string, tools: VendorTools) =>
    Effect.asVoid(call(tools, "POST", "/freespins/cancel", [["freespin_id", reference]]))

  return { launch, catalogue, freeRounds: { issue, cancel } }
}
