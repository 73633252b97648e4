// Backs up the embedded database while it runs: pitboss backup DIR
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { resolve } from "node:path"
import { standardOutput } from "../src/platform/Output.ts"
import { backUp } from "./backup/Backup.ts"
import { dataDirectory } from "./backup/DataDirectory.ts"
import { passphraseFile, readPassphrase } from "./backup/Passphrase.ts"
import { explained } from "./Explained.ts"
import { Entropy } from "../src/platform/Entropy.ts"
import { runTyped } from "../src/platform/Usage.ts"

const program = Command.make(
  "backup",
  {
    folder: Argument.String("dir").pipe(
      Argument.withDescription("Where to: an empty folder, or one that is not there")
    ),
    passphraseFile
  },
  ({ folder, passphraseFile }) =>
    Effect.gen(function*() {
      const dataDir = yield* dataDirectory(false)
      const passphrase = yield* readPassphrase(passphraseFile, true)
      const report = yield* backUp(dataDir, resolve(folder), passphrase)
      standardOutput.print(`${JSON.stringify(report, null, 2)}\n`, () => (process.exitCode = 1))
    }).pipe(Effect.scoped, explained)
).pipe(Command.withDescription("Back up the embedded database of DATA_DIR, also while the service runs"))

NodeRuntime.runMain(Effect.provide(runTyped(program), [NodeServices.layer, Entropy.layer]))
