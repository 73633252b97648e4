import { assert, describe, it } from "@effect/vitest"
import type { Game } from "../../../src/features/games/Game.ts"
import { launchUrl } from "../../../src/features/launches/LaunchUrl.ts"

const game: Game = {
  id: 1,
  externalId: "book of/ra&x=1",
  name: "Book",
  type: "rng",
  category: "slots",
  rtp: 96,
  thumbnailUrl: null,
  original: null,
  active: true,
  provider: {
    id: 2,
    slug: "acme",
    name: "Acme",
    launchUrl: "https://play.example/launch?t={token}&g={game}&m={mode}",
    demoUrl: "https://play.example/demo/{game}",
    protocol: "pitboss"
  }
}

const withProvider = (provider: Partial<Game["provider"]>): Game => ({
  ...game,
  provider: { ...game.provider, ...provider }
})

describe("launchUrl", () => {
  it("replaces placeholders by encoded values", () => {
    const url = launchUrl(game, "real", "{game}$&$1")
    assert.strictEqual(
      url,
      "https://play.example/launch?t=%7Bgame%7D%24%26%241&g=book%20of%2Fra%26x%3D1&m=real"
    )
    const query = new URL(url ?? "").searchParams
    assert.deepStrictEqual([query.get("t"), query.get("g")], ["{game}$&$1", "book of/ra&x=1"])
  })

  it("replaces every occurrence of a placeholder, and leaves other braces unchanged", () => {
    const twice = withProvider({ launchUrl: "https://play.example/{mode}/{mode}?x={other}" })
    assert.strictEqual(launchUrl(twice, "real", "t"), "https://play.example/real/real?x={other}")
  })

  it("uses the demo URL for free play, or the launch URL if that has a {mode} placeholder", () => {
    assert.strictEqual(launchUrl(game, "demo", "t"), "https://play.example/demo/book%20of%2Fra%26x%3D1")
    assert.include(launchUrl(withProvider({ demoUrl: null }), "demo", "t") ?? "", "m=demo")
    assert.isNull(launchUrl(withProvider({ demoUrl: null, launchUrl: "https://play.example/{token}" }), "demo", "t"))
  })

  it("is null for an original (in-house game) and for a provider without a launch URL", () => {
    assert.isNull(launchUrl({ ...game, original: "dice" }, "real", "t"))
    assert.isNull(launchUrl(withProvider({ launchUrl: null }), "real", "t"))
  })
})
