import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerCasinos } from "../kit/Backoffice.ts"
import { dataOf, type Fields, fresh, openCasino, outcomeOf, registration, staffCall } from "../kit/Casino.ts"
import { dayMs, pass, whileTimePasses } from "../kit/Calendar.ts"

const excludedName = { first_name: "Zoë", last_name: "Müller", birth_date: "1990-12-31" }
const falseName = { first_name: "Anna", last_name: "Nobody", birth_date: "1985-05-05" }

// Goal: nobody who is excluded gets an account by registering under a false name and correcting it. Method: an account of somebody else, whose profile is
// changed to the excluded person's name and birth date in steps that match and steps that do not.
layer(layerCasinos, { excludeTestServices: true })("a profile update", (it) => {
  it.effect("that gives a player the identity of an excluded person is refused like a registration, and changes nothing", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id: excluded } = yield* casino.register({ ...registration(fresh("first_")), ...excludedName })
      dataOf(yield* casino.patch(`/players/${excluded}`, { last_name: "King" }))
      dataOf(yield* casino.exclude(excluded, { period: "24_hours" }))
      const refused: ReadonlyArray<readonly [before: Fields, change: Fields]> = [
        [falseName, excludedName],
        [{ ...excludedName, last_name: "Nobody" }, { last_name: "Muller" }],
        [{ ...excludedName, birth_date: "1985-05-05" }, { birth_date: excludedName.birth_date, city: "Turku" }],
        // as she was called when she was excluded, the parts in the other order, one sent alone
        [{ ...excludedName, first_name: "King", last_name: "Nobody" }, { last_name: "ZOE" }]
      ]
      for (const [before, change] of refused) {
        const { id } = yield* casino.register({ ...registration(fresh("again_")), ...before })
        yield* staffCall("POST", `/backoffice/v1/players/${id}/kyc`, { status: "verified" })
        const { data: shown } = yield* casino.get(`/players/${id}`)
        assert.strictEqual(outcomeOf(yield* casino.patch(`/players/${id}`, change)), "SELF_EXCLUDED_IDENTITY")
        // nor is the verification lost to a change that was refused
        assert.deepStrictEqual((yield* casino.get(`/players/${id}`)).data, shown)
      }
      const { id } = yield* casino.register({ ...registration(fresh("namesake_")), ...falseName })
      const change = (fields: Fields) => casino.patch(`/players/${id}`, fields)
      dataOf(yield* change({ first_name: "Zoe", last_name: "Müller", city: "Turku" }))
      dataOf(yield* change({ first_name: "Zoe", last_name: "King", birth_date: "1990-12-30" }))
      // her own account
      dataOf(yield* casino.patch(`/players/${excluded}`, excludedName))
      yield* pass(dayMs)
      dataOf(yield* change(excludedName))
    })))
})
