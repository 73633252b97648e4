/** Cases of `secret`, and of seeds that cannot be decrypted. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Casino } from "../Casino.ts"
import { type CommandCase, done, nobody } from "./Scene.ts"

/** A player whose current and next seed cannot be decrypted. */
export const playerWithLostSeeds = Effect.fnUntraced(function*(casino: Casino) {
  const sql = yield* SqlClient.SqlClient
  const { id } = yield* casino.register()
  const player = Number(id)
  const hashes = [`in-use-of-${player}`, `promised-to-${player}`] as const
  yield* sql`INSERT INTO server_seeds (id, player_id, operator_id, server_seed_hash, server_seed_sealed, client_seed,
      created_at, started_at)
    VALUES (${9e12 + player * 2}::float8::bigint, ${player}, ${casino.id}, ${
    hashes[0]
  }, '\\x0200'::bytea, 'mine', now(), now()),
      (${9e12 + player * 2 + 1}::float8::bigint, ${player}, ${casino.id}, ${
    hashes[1]
  }, '\\x0200'::bytea, NULL, now(), NULL)`
  return { player, hashes }
})

export const secretCases: ReadonlyArray<CommandCase> = [
  {
    line: "secret list",
    misused: ["secret list all"],
    refused: [],
    *works() {
      const kinds = yield* done("secret list")
      assert.includeMembers(kinds.map(({ kind }: { readonly kind: string }) => kind), ["api_keys", "server_seeds"])
      for (const { current, total } of kinds) assert.strictEqual(current, total)
    }
  },
  {
    line: "secret reseal",
    misused: ["secret reseal all"],
    refused: [],
    *works() {
      const listed = yield* done("secret list")
      assert.deepStrictEqual(yield* done("secret reseal"), listed)
    },
    changes: () => Effect.succeed({ line: "secret reseal", differs: [] })
  },
  {
    line: "player retire-seeds $player --reason \"the key is gone\"",
    misused: ["player retire-seeds ada --reason gone"],
    refused: [[`player retire-seeds ${nobody} --reason gone`, "NOT_FOUND"]],
    *works({ house, tokens }) {
      const { hashes, player } = yield* playerWithLostSeeds(house)
      const line = `player retire-seeds ${player} --reason "the key is gone"`
      const retired = yield* done(line, undefined, tokens["support"])
      assert.deepInclude(retired, { player_id: player, retired: [...hashes] })
      const again = yield* done(line)
      assert.deepStrictEqual(again, { ...retired, retired: [] })
      assert.match(again.next_server_seed_hash, /^[0-9a-f]{64}$/)
    },
    changes: ({ house }) =>
      Effect.map(playerWithLostSeeds(house), ({ player }) => ({
        line: `player retire-seeds ${player} --reason gone`,
        differs: ["seed_in_use", "seed_promised", "lost"]
      }))
  }
]
