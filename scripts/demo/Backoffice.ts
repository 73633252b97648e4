/** Commands of the back office, run as a person runs them. */
import { Effect, Schema, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { join } from "node:path"
import { extension } from "../../src/platform/Invocation.ts"
import { SimulatorError } from "../simulators/SimulatorError.ts"

const commandLine = join(import.meta.dirname, "..", "..", "src", `cli${extension}`)

/** Runs a command and gives what it prints; `hint`: what else to say of a refusal. */
export const backoffice = Effect.fnUntraced(
  function*<A>(schema: Schema.Codec<A, unknown>, args: ReadonlyArray<string>, hint = "") {
    const name = args.slice(0, 2).join(" ")
    const { output, problems } = yield* Effect.gen(function*() {
      const child = yield* ChildProcess.make(process.execPath, [commandLine, ...args, "--json"])
      const text = (stream: typeof child.stdout) => Stream.mkString(Stream.decodeText(stream))
      const [output, problems] = yield* Effect.all([text(child.stdout), text(child.stderr)], { concurrency: 2 })
      return { output, problems }
    }).pipe(
      Effect.scoped,
      Effect.mapError(({ message }) => new SimulatorError({ message: `${name} cannot be run: ${message}` }))
    )
    return yield* Effect.mapError(
      Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(output),
      () =>
        new SimulatorError({ message: `${name} says: ${(problems || output).replaceAll(/\s+/g, " ").trim()}${hint}` })
    )
  }
)
