/** What the casino has from staff: an operator for testing with a key, a way to pay, a bonus and, where the service takes one, a webhook. */
import { Clock, Config, Console, Effect, FileSystem, Layer, Option, Schema } from "effect"
import { createClient } from "../package/client/src/index.ts"
import { layerEndWithParent } from "../../src/platform/ProcessEnd.ts"
import { backoffice } from "../demo/Backoffice.ts"
import { dataFile } from "../demo/Service.ts"
import { print } from "../simulators/Report.ts"
import { SimulatorError } from "../simulators/SimulatorError.ts"
import { startCasino } from "./Server.ts"

const Webhook = Schema.Struct({ id: Schema.Int, secret: Schema.String })
const Credentials = Schema.Struct({
  slug: Schema.String,
  key: Schema.String,
  secret: Schema.String,
  webhook: Schema.optionalKey(Webhook)
})
const Stored = Schema.fromJsonString(Credentials)

const Key = Schema.Struct({ key: Schema.String, secret: Schema.String })

const isTaken = (url: string, { key, secret }: typeof Key.Type) =>
  Effect.promise(() => createClient({ baseUrl: url, key, secret }).account.me().then(() => true, () => false))

const create = Effect.gen(function*() {
  const slug = `casino-${(yield* Clock.currentTimeMillis).toString(36)}`
  const of = ["--operator", slug]
  const terms = ["--name", "Sandbox Casino", "--currency", "EUR", "--sandbox"]
  yield* backoffice(Schema.Unknown, ["operator", "create", "--slug", slug, ...terms])
  const { key, secret } = yield* backoffice(Key, ["key", "create", ...of, "--name", "Casino", "--rate-limit", "6000"])
  yield* backoffice(Schema.Unknown, ["payment-method", "create", ...of, "--code", "card", "--min-deposit", "500"])
  const welcome = [
    "--name",
    "Welcome",
    "--type",
    "no_deposit",
    "--default-amount",
    "1000",
    "--wagering-multiplier",
    "3"
  ]
  const about = ["--description", "Wager it three times to keep what is left."]
  yield* backoffice(Schema.Unknown, ["bonus", "create", ...of, ...welcome, ...about])
  return { slug, key, secret }
})

/** Serves the casino until it is interrupted. */
export const openCasino = Effect.fnUntraced(function*(url: string) {
  const fs = yield* FileSystem.FileSystem
  const port = yield* Config.Port("CASINO_PORT").pipe(
    Config.withDefault(8090),
    Effect.mapError(() => new SimulatorError({ message: "CASINO_PORT must be a port" }))
  )
  const file = yield* dataFile("casino.json")
  const stored = yield* fs.readFileString(file).pipe(Effect.flatMap(Schema.decodeUnknownEffect(Stored)), Effect.option)
  const known = Option.getOrUndefined(stored)
  const operator = known !== undefined && (yield* isTaken(url, known)) ? known : yield* create
  const address = `http://127.0.0.1:${port}/webhooks`
  const { slug } = operator
  const kept = "webhook" in operator ? operator.webhook : undefined
  // a service that sends to no address on this machine refuses both: the site follows events
  const taken = yield* Effect.option(
    kept === undefined
      ? backoffice(Webhook, ["webhook", "create", "--operator", slug, "--url", address])
      : Effect.as(backoffice(Schema.Unknown, ["webhook", "update", String(kept.id), "--url", address]), kept)
  )
  const webhook = Option.getOrUndefined(taken) ?? kept
  const { key, secret } = operator
  yield* Schema.encodeEffect(Stored)({ slug, key, secret, ...webhook === undefined ? {} : { webhook } }).pipe(
    Effect.flatMap((text) => fs.writeFileString(file, `${text}\n`, { mode: 0o600 })),
    Effect.mapError(({ message }) => new SimulatorError({ message: `${file} cannot be written: ${message}` }))
  )
  const context = yield* Effect.context()
  const site = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () =>
        startCasino({
          url,
          key,
          secret,
          port,
          webhookSecret: Option.getOrUndefined(taken)?.secret,
          onProblem: (message) => void Effect.runForkWith(context)(Console.error(`casino: ${message}`))
        }),
      catch: (cause) =>
        new SimulatorError({ message: `the casino cannot listen: ${cause instanceof Error ? cause.message : "?"}` })
    }),
    ({ close }) => Effect.sync(close)
  )
  yield* Layer.build(layerEndWithParent)
  yield* print(`A casino is open at ${site.url}. Ctrl-C closes it.\n`)
  return yield* Effect.never
})
