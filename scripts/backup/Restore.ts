/** Restores a backup of the embedded database into an empty `DATA_DIR`, and verifies the ledger there. Needs no service. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Effect, Layer } from "effect"
import * as Fs from "node:fs"
import { join } from "node:path"
import { layerChainKey } from "../../src/auth/ChainKeys.ts"
import { SealedSecrets } from "../../src/auth/SealedSecrets.ts"
import { Chain } from "../../src/chain/Chain.ts"
import { RememberedEnds } from "../../src/chain/Ends.ts"
import { layerEndsFile } from "../../src/chain/EndsFile.ts"
import { LedgerAudit, type LedgerReport } from "../../src/features/ledger/LedgerAudit.ts"
import { giveToDatabase } from "../../src/platform/EmbeddedPostgres.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { StartupError } from "../../src/platform/StartupError.ts"
import { layerMigratedDatabase } from "../../src/service.ts"
import { claimFolder } from "./Backup.ts"
import { copyFile } from "./Files.ts"
import { type Content, dataFolder, readManifest, type SecretFiles } from "./Manifest.ts"

/** Whether a name leads out of the folder. */
const leadsOut = (path: string): boolean => path.startsWith("/") || path.split(/[/\\]/).includes("..")

const copyAll = (folder: string, dataDir: string, { files, folders }: Content, secrets: SecretFiles) =>
  Effect.try({
    try: () => {
      const paths = [...files.map(({ path }) => path), ...folders, ...Object.keys(secrets)]
      if (paths.some(leadsOut)) throw new Error("a file of it is elsewhere")
      for (const path of folders) Fs.mkdirSync(join(dataDir, path), { recursive: true, mode: 0o700 })
      for (const { bytes, path, sha256 } of files) {
        const copied = copyFile(join(folder, dataFolder, path), join(dataDir, path), path)
        if (copied === undefined) throw new Error(`${path} is missing`)
        if (copied.bytes !== bytes || copied.sha256 !== sha256) throw new Error(`${path} is not as it was written`)
      }
      for (const [name, text] of Object.entries(secrets)) {
        Fs.writeFileSync(join(dataDir, name), text, { mode: 0o600, flush: true })
      }
    },
    catch: (cause) =>
      new StartupError({
        message: `${folder} is no whole backup: ${cause instanceof Error ? cause.message : String(cause)}`
      })
  })

/** The restored database by itself, migrated as a start would. */
const verified = (dataDir: string) =>
  Effect.flatMap(LedgerAudit, (audit) => audit.verify(undefined)).pipe(
    Effect.provide(
      LedgerAudit.layer.pipe(
        Layer.provideMerge(layerEndsFile),
        Layer.provideMerge(RememberedEnds.layer),
        Layer.provideMerge(Chain.layer),
        Layer.provideMerge(layerChainKey),
        Layer.provideMerge(SealedSecrets.layer),
        Layer.provideMerge(Secrets.layer),
        Layer.provideMerge(layerMigratedDatabase),
        Layer.provideMerge(Settings.layer),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ DATA_DIR: dataDir }))),
        Layer.provide(NodeServices.layer)
      )
    ),
    Effect.mapError((error) => "code" in error ? new StartupError({ message: error.message }) : error)
  )

interface RestoreReport {
  readonly data_dir: string
  /** The moment that the backup holds. */
  readonly ended_at: string
  readonly ledger: LedgerReport
}

/** Restores into a folder that is absent or empty; what was copied of a backup that turns out to be none is removed. */
export const restore = Effect.fnUntraced(function*(folder: string, dataDir: string, passphrase: string) {
  const { content, secrets } = yield* readManifest(folder, passphrase)
  yield* claimFolder(dataDir)
  yield* copyAll(folder, dataDir, content, secrets).pipe(
    Effect.tapError(() =>
      Effect.sync(() => {
        for (const name of Fs.readdirSync(dataDir)) Fs.rmSync(join(dataDir, name), { recursive: true })
      })
    )
  )
  yield* giveToDatabase(dataDir)
  return {
    data_dir: dataDir,
    ended_at: content.ended_at,
    ledger: yield* Effect.scoped(verified(dataDir))
  } satisfies RestoreReport
})
