/** A catalogue game with its provider, and its form in the operator API. */
import type { GameType } from "../../domain/state/Bonus.ts"
import type { ListOrder } from "../../store/Lists.ts"

interface GameProvider {
  readonly id: number
  readonly slug: string
  readonly name: string
  /** Templates with `{token}`, `{game}` and `{mode}`. */
  readonly launchUrl: string | null
  readonly demoUrl: string | null
  /** `pitboss`, or the vendor's protocol, by which a launch URL is requested. */
  readonly protocol: string
}

export interface Game {
  readonly id: number
  /** The provider's own id of the game. */
  readonly externalId: string
  readonly name: string
  readonly type: GameType
  readonly category: string
  /** Percent. */
  readonly rtp: number | null
  readonly thumbnailUrl: string | null
  /** The name of the built-in game behind it; null for a provider's game. */
  readonly original: string | null
  /** False when the game or its provider is switched off: it is not listed, and takes no new bets. */
  readonly active: boolean
  readonly provider: GameProvider
}

/** By name, in the order of letters: the column has the collation. */
export const byName: ListOrder<{ readonly id: number; readonly name: string }> = {
  keys: [
    { column: "g.name", kind: "text", of: ({ name }) => name },
    { column: "g.id", kind: "integer", of: ({ id }) => id }
  ]
}

/** A game as operators see it (SPEC section 2.7). */
export const gameFields = (game: Game) => ({
  id: game.id,
  external_id: game.externalId,
  name: game.name,
  type: game.type,
  category: game.category,
  rtp: game.rtp,
  thumbnail_url: game.thumbnailUrl,
  is_original: game.original !== null,
  provider: { id: game.provider.id, slug: game.provider.slug, name: game.provider.name }
})
