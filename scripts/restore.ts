// Restores a backup into an empty DATA_DIR and verifies its ledger: pitboss restore DIR
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { resolve } from "node:path"
import { standardOutput } from "../src/platform/Output.ts"
import { runTyped } from "../src/platform/Usage.ts"
import { dataDirectory } from "./backup/DataDirectory.ts"
import { explained } from "./Explained.ts"
import { passphraseFile, readPassphrase } from "./backup/Passphrase.ts"
import { restore } from "./backup/Restore.ts"

const program = Command.make(
  "restore",
  { folder: Argument.String("dir").pipe(Argument.withDescription("The backup")), passphraseFile },
  ({ folder, passphraseFile }) =>
    Effect.gen(function*() {
      const dataDir = yield* dataDirectory(true)
      const passphrase = yield* readPassphrase(passphraseFile, false)
      const report = yield* restore(resolve(folder), dataDir, passphrase)
      standardOutput.print(`${JSON.stringify(report, null, 2)}\n`, () => (process.exitCode = 1))
      if (report.ledger.violations.length > 0) process.exitCode = 1
    }).pipe(explained)
).pipe(Command.withDescription("Restore a backup into DATA_DIR, which is empty or not there, and verify the ledger"))

NodeRuntime.runMain(Effect.provide(runTyped(program), NodeServices.layer))
