/** Command that verifies a ledger export without the service. */
import { Effect, FileSystem, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ExportCheck } from "../chain/ExportLines.ts"
import { refuse } from "../domain/Refusal.ts"
import { text } from "../platform/CliFlags.ts"
import { CommandOutput, printAnswer } from "./Root.ts"

const unreadableFile = refuse("INVALID_REQUEST", "The file cannot be read.")

export const checkExport = Command.make("check-export", {
  file: Argument.String("file").pipe(Argument.withDescription("What `ledger export` printed")),
  hash: text("hash", "Hash from a `ledger seal written` line of the log").pipe(
    Flag.filter((hash) => /^[0-9a-f]{64}$/i.test(hash), () => "Expected the 64 digits of a hash")
  )
}, ({ file, hash }) =>
  Effect.gen(function*() {
    const { end } = yield* CommandOutput
    const check = new ExportCheck(hash)
    yield* (yield* FileSystem.FileSystem).stream(file).pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.runForEach((line) => Effect.sync(() => check.take(line))),
      Effect.mapError(() => unreadableFile)
    )
    const report = check.report()
    yield* printAnswer(report)
    if (report.violations.length > 0) end(1)
  })).pipe(
    Command.withDescription(
      "Verify an export against a published hash, without the service; exit 1 when it does not hold"
    )
  )
