/** Passphrase of a backup: of a file, of `PITBOSS_PASSPHRASE`, or asked on a terminal. */
import { Config, Effect, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import * as Fs from "node:fs"
import { createInterface } from "node:readline/promises"
import { Writable } from "node:stream"
import { standardError } from "../../src/platform/Output.ts"
import { StartupError } from "../../src/platform/StartupError.ts"

const leastLetters = 12

export const passphraseFile = Flag.String("passphrase-file").pipe(
  Flag.withDescription("File with the passphrase; else PITBOSS_PASSPHRASE, else asked on a terminal"),
  Flag.optional
)

/** Asks without showing what is typed. */
const ask = (question: string) =>
  Effect.promise(async () => {
    const mute = new Writable({ write: (_chunk, _encoding, done) => done() })
    const lines = createInterface({ input: process.stdin, output: mute, terminal: true })
    // only now the terminal shows nothing
    standardError.offer(question)
    const answer = await lines.question("")
    lines.close()
    standardError.offer("\n")
    return answer
  })

/** Reads a file that its owner alone reads: for a backup another one is refused; a restore goes on. */
const readFile = (file: string, isNew: boolean) =>
  Effect.try({
    try: () => ({
      text: Fs.readFileSync(file, "utf8").replace(/\r?\n$/, ""),
      isOpen: (Fs.statSync(file).mode & 0o077) !== 0
    }),
    catch: () => new StartupError({ message: `--passphrase-file: ${file} cannot be read` })
  }).pipe(Effect.flatMap(({ isOpen, text }) => {
    if (!isOpen) return Effect.succeed(text)
    const message = `--passphrase-file: others than its owner have rights on ${file}: chmod 600 ${file}`
    return isNew ? Effect.fail(new StartupError({ message })) : Effect.sync(() => {
      standardError.offer(`pitboss: ${message}\n`)
      return text
    })
  }))

/** The passphrase, at least 12 characters; a new one is asked for twice. */
export const readPassphrase = Effect.fnUntraced(function*(file: Option.Option<string>, isNew: boolean) {
  const variable = yield* Effect.orElseSucceed(Config.option(Config.Redacted("PITBOSS_PASSPHRASE")), Option.none)
  let given: string
  if (Option.isSome(file)) {
    given = yield* readFile(file.value, isNew)
  } else if (Option.isSome(variable)) given = Redacted.value(variable.value)
  else if (process.stdin.isTTY) {
    given = yield* ask("Passphrase: ")
    if (isNew && (yield* ask("Once more: ")) !== given) {
      return yield* new StartupError({ message: "the passphrases differ" })
    }
  } else return yield* new StartupError({ message: "a passphrase is needed: --passphrase-file or PITBOSS_PASSPHRASE" })
  if (given.length < leastLetters) {
    return yield* new StartupError({ message: `a passphrase has at least ${leastLetters} characters` })
  }
  return given
})
