/**
 * Vendors calling in their protocols over real HTTP: requests are encoded and answers checked by the dialects of the provider simulator,
 * which are based on the vendors' documentation and independent of our code.
 */
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type * as Http from "node:http"
import { PlayerRefs } from "../../src/features/games/PlayerRefs.ts"
import { Integrations } from "../../src/features/integrations/Integrations.ts"
import { SessionTokens } from "../../src/features/games/SessionTokens.ts"
import { makeProviderSettings } from "../../src/features/integrations/ProviderSettings.ts"
import { launchStep } from "../../src/domain/settlement/Launch.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import type { Circumstances, Dialect, Message, Session } from "../../scripts/simulators/Dialect.ts"
import { makeDialect, protocolNames } from "../../scripts/simulators/Dialects.ts"
import { protocolOfSample, samples } from "../../scripts/simulators/Samples.ts"
import { addGame, type Game } from "./Casino.ts"
import { exchange } from "./HttpCalls.ts"
import { addProvider } from "./Keys.ts"

/** A protocol with settings that fit both sides. */
export interface VendorCase {
  readonly name: string
  readonly protocol: string
  readonly settings: { readonly [name: string]: unknown }
  readonly dialect: Dialect
}

/** A sample's protocol, with the vendor at an address. */
export const vendorCaseAt = (name: string, gamesUrl: string): VendorCase => {
  const { provider, vendor } = samples[name]?.(gamesUrl) ?? { provider: {}, vendor: {} }
  const protocol = protocolOfSample(name)
  return {
    name,
    protocol,
    settings: provider,
    dialect: Effect.runSync(makeDialect(protocol, { ...provider, ...vendor }))
  }
}

/** The samples of every protocol that a vendor can be played for. */
export const vendorNames: ReadonlyArray<string> = Object.keys(samples).filter((name) =>
  protocolNames.includes(protocolOfSample(name))
)

/** {@link vendorNames}, with unused vendors. */
export const vendorCases: ReadonlyArray<VendorCase> = vendorNames.map((name) =>
  vendorCaseAt(name, "https://vendor.example")
)

export interface Vendor {
  readonly id: number
  readonly slug: string
  readonly dialect: Dialect
  readonly game: Game
  readonly port: number
  readonly agent: Http.Agent
}

/** A provider that speaks the case's protocol, with one game. */
export const addVendor = Effect.fnUntraced(
  function*(
    agent: Http.Agent,
    port: number,
    slug: string,
    { dialect, protocol, settings }: VendorCase,
    gameId = `${slug}-table`
  ) {
    const sql = yield* SqlClient.SqlClient
    const providerSettings = yield* makeProviderSettings
    const { id } = yield* addProvider(slug)
    const known = providerSettings.protocolOf(protocol)
    if (known === undefined) return yield* Effect.die(new Error(`no protocol ${protocol}`))
    const divided = providerSettings.divide(id, known, settings)
    yield* sql`UPDATE providers SET protocol = ${protocol}, settings = ${JSON.stringify(divided.settings)}::text::jsonb,
      settings_sealed = ${divided.settings_sealed} WHERE id = ${id}`
    // as the service does, where it is in this process: one that was not announced is found within two seconds
    const integrations = yield* Effect.serviceOption(Integrations)
    if (integrations._tag === "Some") yield* integrations.value.invalidate(slug)
    const game = yield* addGame(id, gameId, { type: "live", category: "live" })
    return { id, slug, dialect, game, port, agent } satisfies Vendor
  }
)

/** A player at a vendor's game, as a launch leaves one. */
export const openSeat = Effect.fnUntraced(function*(vendor: Pick<Vendor, "id" | "game">, playerId: number) {
  const actors = yield* PlayerActors
  const tokens = yield* SessionTokens
  const refs = yield* PlayerRefs
  const opened = { gameId: vendor.game.id, providerId: vendor.id, mode: "real" as const }
  const { expiresAt, sessionId } = yield* actors.ask(
    null,
    playerId,
    launchStep({ ...opened, platform: null, ip: null })
  )
  const { currency, operatorId } = yield* actors.read(null, playerId)
  return {
    token: tokens.issue({ ...opened, sessionId, playerId, operatorId, expiresAt }),
    playerRef: refs.playerRef(vendor.id, playerId),
    currency,
    gameId: vendor.game.externalId
  } satisfies Session
})

/** Sends a message of a vendor; gives the answer as the vendor reads it, with its HTTP status. */
export const play = Effect.fnUntraced(function*(
  vendor: Vendor,
  session: Session,
  message: Message,
  callId: string,
  damage: Circumstances["damage"] = "none"
) {
  const now = yield* Clock.currentTimeMillis
  const request = vendor.dialect.request(message, session, { callId, now, damage })
  const query = request.query === undefined ? "" : `?${request.query}`
  const reply = yield* exchange(
    vendor.agent,
    vendor.port,
    `/api/v1/integrations/${vendor.slug}${request.path}${query}`,
    {
      method: request.method,
      headers: request.headers,
      raw: request.body
    }
  )
  const reading = vendor.dialect.read(message, session, callId, {
    status: reply.status,
    contentType: reply.headers["content-type"] ?? "",
    body: reply.text
  })
  return { ...reading, status: reply.status, text: reply.text }
})
