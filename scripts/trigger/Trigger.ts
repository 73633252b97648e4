/** Makes an event happen in a sandbox and finds it in the operator's events. */
import { Effect, Schedule } from "effect"
import * as OperatorClient from "../../src/client/OperatorClient.ts"
import { type EventType } from "../../src/domain/state/Events.ts"
import { scopes } from "../../src/domain/state/Operator.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { StartupError } from "../../src/platform/StartupError.ts"
import { type Given, notASandbox, openCredentials } from "../listen/Credentials.ts"
import { recipes } from "./Recipes.ts"
import { makeSandbox } from "./Sandbox.ts"

/** Seconds that a call waits for the event, and how often one is made. */
const waitSeconds = 10
const looks = 6

/** A year of a sandbox's clock may take a while. */
const attemptTimeout = "2 minutes"

/** Makes an event of this type happen. Fails for a live operator before anything is changed. */
export const trigger = Effect.fnUntraced(function*(type: EventType, given: Given) {
  const { key, secret, staff, url } = yield* openCredentials(given, scopes, true)
  const operator = yield* Effect.mapError(
    OperatorClient.make({ baseUrl: url, key, secret, attemptTimeout }),
    ({ message }) => new StartupError({ message })
  )
  const { data: { operator: { is_sandbox: isSandbox, slug } } } = yield* Effect.mapError(
    operator.account.me(),
    ({ message }) => new StartupError({ message })
  )
  if (!isSandbox) return yield* notASandbox(slug)
  const { token } = yield* Entropy
  const sandbox = makeSandbox({ operator, run: token("", 10).toLowerCase(), slug, staff })
  const player = yield* recipes[type].run(sandbox)
  const look = sandbox.read(
    "read the events",
    operator.events.list({ query: { player_id: player, type, per_page: 100, wait: waitSeconds } })
  )
  const { data } = yield* look.pipe(
    Effect.repeat({ until: ({ data: [event] }) => event !== undefined, schedule: Schedule.recurs(looks) })
  )
  const event = data.at(-1)
  if (event === undefined) {
    return yield* new StartupError({
      message: `${type} did not come of it:\n${sandbox.steps.map((step) => `  ${step}`).join("\n")}`
    })
  }
  return { operator: slug, player_id: player, steps: sandbox.steps, event }
})
