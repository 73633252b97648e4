import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { drawsOf, hashServerSeed } from "../../../src/domain/original/Fairness.ts"
import type { Played } from "../../../src/domain/original/Original.ts"
import { originals } from "../../../src/domain/original/Originals.ts"
import { bet, hmacSha256, sha256 } from "./support.ts"

// Goal: the documented verification recipe reproduces every round, now and after every change. Method: read the
// known rounds and the script beside the decision; play the rounds by the rules, and run the script on them.

const decisions = join(import.meta.dirname, "..", "..", "..", "docs", "decisions")
const page = readFileSync(join(decisions, "0007-originals.md"), "utf8")
const known = readFileSync(join(decisions, "0007-known-rounds.jsonl"), "utf8").trim().split("\n")

const decoded = <A, I>(schema: Schema.Codec<A, I>, lines: ReadonlyArray<string>): ReadonlyArray<A> =>
  lines.map((line) => Schema.decodeUnknownSync(schema)(JSON.parse(line)))

const Seed = Schema.Struct({ seed: Schema.String, server_seed: Schema.String, server_seed_hash: Schema.String })

const JsonObject = Schema.Record(Schema.String, Schema.Json)

const Round = Schema.Struct({
  game: Schema.String,
  params: JsonObject,
  stake: Schema.Int,
  seed: Schema.String,
  client_seed: Schema.String,
  nonce: Schema.Int,
  multiplier: Schema.Number,
  payout: Schema.Int,
  outcome: JsonObject
})

const isSeed = (line: string): boolean => line.includes("server_seed")
const seeds = new Map(decoded(Seed, known.filter(isSeed)).map((seed) => [seed.seed, seed]))
const rounds = decoded(Round, known.filter((line) => !isSeed(line))).map((round) => ({
  ...round,
  ...seeds.get(round.seed) ?? assert.fail(round.seed)
}))

/** Random part of the outcome of each game: the script returns only that. */
const decided: { readonly [game: string]: string } = {
  dice: "roll",
  limbo: "result",
  coin_flip: "result",
  plinko: "path",
  mines: "mine_cells"
}

describe("the documented rounds", () => {
  it("include every original, both won and lost if the game can lose", () => {
    assert.deepStrictEqual(new Set(rounds.map((round) => round.game)), new Set(originals.keys()))
    for (const game of originals.keys()) {
      const won = rounds.filter((round) => round.game === game).map((round) => round.outcome["won"])
      assert.deepStrictEqual(new Set(won), new Set(game === "plinko" ? [undefined] : [true, false]), game)
    }
  })

  it("have server seeds that match their hashes", () => {
    for (const { server_seed, server_seed_hash } of seeds.values()) {
      assert.match(server_seed, /^[0-9a-f]{64}$/)
      assert.strictEqual(hashServerSeed(sha256, server_seed), server_seed_hash)
    }
  })

  it.each(rounds)("have the documented outcome: $game with nonce $nonce", (round) => {
    const original = originals.get(round.game) ?? assert.fail(round.game)
    const draws = drawsOf(hmacSha256, {
      serverSeed: round.server_seed,
      clientSeed: round.client_seed,
      nonce: round.nonce
    })
    const documented: Played = { payout: round.payout, multiplier: round.multiplier, outcome: round.outcome }
    assert.deepStrictEqual(bet(original, round.params, round.stake).play(draws), documented)
  })
})

describe("the documented verification script", () => {
  const script = /^```js\n([\s\S]*?)^```$/m.exec(page)?.[1]

  it.each(rounds)("reproduces the outcome of $game with nonce $nonce", (round) => {
    const args = [round.server_seed, round.client_seed, String(round.nonce), round.game, JSON.stringify(round.params)]
    const printed = execFileSync(process.execPath, ["--input-type=module", "-", ...args], {
      input: script ?? assert.fail("the page has no script"),
      encoding: "utf8"
    })
    const result = round.outcome[decided[round.game] ?? assert.fail(round.game)]
    assert.strictEqual(printed, `${round.server_seed_hash} ${JSON.stringify(result)}\n`)
  })
})
