// A national register of excluded players, for development and tests: npm run register -- --help
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, FileSystem, Option, Path, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { connectionKinds } from "../src/domain/register/Register.ts"
import { standardError } from "../src/platform/Output.ts"
import { makeFakeRegister, modes } from "./registers/FakeRegister.ts"
import { People } from "./registers/People.ts"
import { print } from "./simulators/Report.ts"
import { SimulatorError } from "./simulators/SimulatorError.ts"

const flags = {
  kind: Flag.Literals("kind", connectionKinds).pipe(Flag.withDescription("Which register it is")),
  port: Flag.Int("port").pipe(
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }))),
    Flag.withDescription("Port on this machine; 0 for a free one")
  ),
  people: Flag.String("people").pipe(
    Flag.withDescription(
      "JSON list of [{personal_id, first_name, last_name, birth_date, verdict}]; whom it lacks is clear"
    ),
    Flag.optional
  ),
  plain: Flag.Boolean("plain").pipe(
    Flag.withDescription("Settings with an http address, without TLS"),
    Flag.withDefault(false)
  )
}

const readPeople = Effect.fnUntraced(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  const content = yield* Effect.mapError(
    fs.readFileString(file),
    ({ message }) => new SimulatorError({ message: `${file} cannot be read: ${message}` })
  )
  return yield* Effect.mapError(
    Schema.decodeUnknownEffect(Schema.fromJsonString(People))(content),
    ({ message }) => new SimulatorError({ message: `${file}: ${message}` })
  )
})

const register = Command.make("register", flags, ({ kind, people, plain, port }) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    let questions = 0
    const fake = yield* makeFakeRegister({
      kind,
      port,
      isPlain: plain,
      people: Option.isSome(people) ? yield* readPeople(people.value) : [],
      onAsked: () => questions++
    })
    const folder = yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "pitboss-register-" }))
    const file = path.join(folder, `${kind}.json`)
    yield* Effect.orDie(fs.writeFileString(file, `${JSON.stringify(fake.settings, null, 2)}\n`, { mode: 0o600 }))
    yield* print(
      `${kind} at ${fake.url}, over TLS and without. A service that was started with REGISTER_ALLOW_INSECURE=on`
    )
    const command = kind === "screening"
      ? `screening create --operator OPERATOR --url ${fake.settings["url"]} --api-key ${fake.settings["api_key"]}`
      : `register create --operator OPERATOR --kind ${kind} --settings ${file}`
    yield* print(`is connected by\n\n  npm run backoffice -- ${command}`)
    yield* print(`\nWhat it knows and how it answers (${modes.join(", ")}):\n`)
    yield* print(`  curl -X PUT ${fake.url}/_people -d '[{"personal_id":"198001019879","verdict":"excluded"}]'`)
    yield* print(`  curl -X PUT ${fake.url}/_mode -d '{"mode":"slow","delay_ms":1500}'\n`)
    let shown = -1
    const show = Effect.sync(() => {
      if (shown === questions) return
      shown = questions
      const line = `${questions} question${questions === 1 ? "" : "s"}`
      standardError.offer(standardError.isTerminal ? `\r\u001b[2K${line}` : `${line}\n`)
    })
    return yield* Effect.forever(Effect.delay(show, standardError.isTerminal ? "200 millis" : "5 seconds"))
  }).pipe(Effect.scoped)).pipe(
    Command.withDescription(
      "Plays a national register of excluded players with its real wire, until it is interrupted. Its certificates are new at each start"
    )
  )

register.pipe(
  Command.run({ version: "1" }),
  Effect.tapErrorTag("SimulatorError", (error) => Console.error(`register: ${error.message}`)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
