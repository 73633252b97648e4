import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { mayPlayAt } from "../../../src/domain/settlement/Launch.ts"
import { type CommitFailure, OutcomeUnknown, StoreUnavailable } from "../../../src/engine/Failures.ts"
import { OpeningSessions } from "../../../src/features/games/OpeningSessions.ts"
import { Launches } from "../../../src/features/launches/Launches.ts"
import { VendorLaunches } from "../../../src/features/launches/VendorLaunches.ts"
import { Entropy } from "../../../src/platform/Entropy.ts"
import { layerCapabilitiesOver } from "../../../src/service.ts"
import { makePlayerStore } from "../../../src/store/internal/PlayerStore.ts"
import { PlayerActors } from "../../../src/store/PlayerActors.ts"
import { addGame } from "../../kit/Casino.ts"
import { addProvider } from "../../kit/Keys.ts"
import { bet } from "../../kit/Messages.ts"
import { addOperator, addPlayer, layerTestService } from "../../kit/TestService.ts"

/** What becomes of the next commit; then commits are as the store's again. */
let fault: ((commit: Effect.Effect<void, CommitFailure>) => Effect.Effect<void, CommitFailure>) | undefined

const cutOff = Effect.fail(new OutcomeUnknown({ reason: "cut off" }))
const faults = {
  "is committed, and its answer lost": (commit) => Effect.andThen(commit, cutOff),
  "is lost before it is committed": () => cutOff
} satisfies { readonly [name: string]: typeof fault }

const faultyStore = Effect.map(makePlayerStore, (store): Effect.Success<typeof makePlayerStore> => ({
  ...store,
  commit: (units) =>
    Effect.suspend(() => {
      const struck = fault
      fault = undefined
      const commit = store.commit(units)
      return struck === undefined ? commit : struck(commit)
    })
}))

const asked: Array<string> = []
const layerVendor = Layer.succeed(VendorLaunches, {
  address: (_game, _player, _request, token) => Effect.sync(() => `https://games.example/${asked.push(token)}`)
})

// anew, with a vendor of the test: the capabilities have theirs
const live = Layer.fresh(Launches.layer).pipe(
  Layer.provide(layerVendor),
  Layer.provideMerge(layerTestService(Entropy.layer, layerCapabilitiesOver(PlayerActors.layerOver(faultyStore))))
)

// Goal: a session that nobody was told of gives no right to play, also at a vendor whose calls name no session; one that was answered lasts. Method: a
// store that loses the answer of the commit that opens the session, before it or after; a vendor that counts what it is asked.
layer(live, { excludeTestServices: true })("a vendor launch whose session commit has an unknown outcome", (it) => {
  for (const [name, strike] of Object.entries(faults)) {
    it.effect(`leaves no session when it ${name}, and bets get TRY_AGAIN until that session's end is written`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [actors, launches, openings] = [yield* PlayerActors, yield* Launches, yield* OpeningSessions]
        const operator = yield* addOperator(`op-${asked.length}-${name.length}`)
        const player = yield* addPlayer(operator, "ada")
        const provider = yield* addProvider(`vendor-${operator.slug}`)
        yield* sql`UPDATE providers SET protocol = 'gcp' WHERE id = ${provider.id}`
        const game = yield* addGame(provider.id, "book")
        const launch = launches.launch(operator.id, player, game.id, { mode: "real", platform: null, ip: null }, {
          claim: undefined,
          render: () => ({ status: 200, body: "" })
        })
        const now = Date.now()
        const waits = Effect.map(
          actors.read(operator.id, player),
          (state) => openings.refuse(state, [bet("b", 1, { providerId: provider.id, session: "none" })], now)?.code
        )
        const mayPlay = Effect.map(actors.read(operator.id, player), (state) => mayPlayAt(state, provider.id, now))
        const askedBefore = asked.length

        // the end of the session meets a database that refuses service, and then one that keeps it waiting
        const [ending, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        fault = (commit) => {
          fault = () => {
            fault = (end) =>
              Effect.andThen(Deferred.succeed(ending, undefined), Effect.andThen(Deferred.await(goOn), end))
            return Effect.fail(new StoreUnavailable({ reason: "away" }))
          }
          return strike(commit)
        }
        const refused = yield* Effect.flip(launch)
        assert.deepStrictEqual([refused.code, refused.details["retry"]], ["TRY_AGAIN", "never"])
        yield* Deferred.await(ending)
        const [opened] = yield* sql`SELECT id FROM game_sessions WHERE player_id = ${player}`
        assert.strictEqual(opened !== undefined, strike === faults["is committed, and its answer lost"])
        assert.strictEqual(yield* waits, opened === undefined ? undefined : "TRY_AGAIN")
        yield* Deferred.succeed(goOn, undefined)

        // a command behind it in the player's turn
        const answered = yield* launch
        assert.strictEqual(answered.launchUrl, `https://games.example/${askedBefore + 1}`)
        assert.lengthOf(asked, askedBefore + 1)
        const running = yield* sql`SELECT id FROM game_sessions WHERE player_id = ${player} AND ended_at IS NULL`
        assert.lengthOf(running, 1)
        assert.isUndefined(yield* waits)
        assert.isTrue(yield* mayPlay)
        assert.notDeepEqual(running[0], opened)
      }))
  }
})
