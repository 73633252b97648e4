/** Wire schemas of games, game providers, categories and launches. */
import { Schema } from "effect"
import { id, timestamp } from "../common/Resource.ts"
import { gameTypes } from "../../domain/state/Bonus.ts"

export const launchPlatforms = ["desktop", "mobile", "web", "ios", "android"] as const

/** A game of the catalogue (SPEC section 2.7). */
export const Game = Schema.Struct({
  id,
  external_id: Schema.String.annotate({ description: "The provider's own id." }),
  name: Schema.String,
  type: Schema.Literals(gameTypes),
  category: Schema.String.annotate({ examples: ["slots"] }),
  rtp: Schema.NullOr(Schema.Finite).annotate({ description: "Return to player in percent.", examples: [96.5] }),
  thumbnail_url: Schema.NullOr(Schema.String),
  is_original: Schema.Boolean,
  provider: Schema.Struct({ id, slug: Schema.String, name: Schema.String })
}).annotate({
  identifier: "Game",
  examples: [{
    id: 311,
    external_id: "golden-reels",
    name: "Golden Reels",
    type: "rng",
    category: "slots",
    rtp: 96.5,
    thumbnail_url: "https://cdn.example/golden-reels.png",
    is_original: false,
    provider: { id: 12, slug: "north-studio", name: "North Studio" }
  }]
})

/** A game provider with its number of active games. */
export const GameProvider = Schema.Struct({
  id,
  slug: Schema.String,
  name: Schema.String,
  games_count: Schema.Int
}).annotate({
  identifier: "GameProvider",
  examples: [{ id: 12, slug: "north-studio", name: "North Studio", games_count: 84 }]
})

/** A game category with its number of active games. */
export const GameCategory = Schema.Struct({
  category: Schema.String.annotate({ examples: ["slots"] }),
  games_count: Schema.Int
}).annotate({ identifier: "GameCategory", examples: [{ category: "slots", games_count: 61 }] })

/** An opened game (SPEC section 4.5). */
export const LaunchedGame = Schema.Struct({
  mode: Schema.Literals(["real", "demo"]),
  game_id: id,
  launch_url: Schema.NullOr(Schema.String).annotate({ description: "Null for a platform original." }),
  session_token: Schema.String,
  expires_at: timestamp,
  is_original: Schema.Boolean
}).annotate({
  identifier: "LaunchedGame",
  examples: [{
    mode: "real",
    game_id: 311,
    launch_url: "https://north-studio.example/play?token=pbs_2hT9&game=golden-reels&mode=real",
    session_token: "pbs_2hT9",
    expires_at: "2026-11-21T00:05:00.000Z",
    is_original: false
  }]
})
