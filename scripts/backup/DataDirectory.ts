/** `DATA_DIR` of the embedded database, as backup and restore see it. */
import { Effect } from "effect"
import * as Fs from "node:fs"
import { join } from "node:path"
import { runningUrl, startEmbeddedPostgres } from "../../src/platform/EmbeddedPostgres.ts"
import { StartupError } from "../../src/platform/StartupError.ts"
import { dataFolder, setting } from "../ServiceSettings.ts"

const given = (name: string) => Effect.orElseSucceed(setting(name), () => undefined)

const masterKey = "master.key"

/** Files of the folder that hold secrets, without those of `listen`, which a backup leaves out: they are made anew. */
export const secretNames = [masterKey, "backoffice.token", "postgres.password", "demo.json", "casino.json"] as const

const external = (isRestore: boolean) =>
  new StartupError({
    message: "DATABASE_URL names an external PostgreSQL, whose own tools do this:\n" + (isRestore
      ? "  pg_restore --exit-on-error --no-owner --no-privileges --single-transaction --dbname=NEW_DATABASE FILE\n"
      : "  pg_dump --format=custom --file=pitboss.dump \"$DATABASE_OWNER_URL\"\n") +
      "and MASTER_KEY is kept apart from it (docs/operations.md, Backup and restore). Unset DATABASE_URL for the embedded one."
  })

/** Absolute path of the folder. Fails with what to run instead for an external database. */
export const dataDirectory = Effect.fnUntraced(function*(isRestore: boolean) {
  if ((yield* given("DATABASE_URL")) !== undefined) return yield* external(isRestore)
  return yield* dataFolder
})

/** Contents of the files that hold secrets; the master key may be of the environment. */
export const readSecrets = Effect.fnUntraced(function*(dataDir: string) {
  const secrets = Object.fromEntries(secretNames.flatMap((name) => {
    const file = join(dataDir, name)
    return Fs.existsSync(file) ? [[name, Fs.readFileSync(file, "utf8")]] : []
  }))
  const key = yield* given("MASTER_KEY")
  if (key !== undefined) return { ...secrets, [masterKey]: `${key}\n` }
  if (secrets[masterKey] === undefined) {
    return yield* new StartupError({
      message: `${dataDir} has no ${masterKey}: give DATA_DIR, or MASTER_KEY as the service has it`
    })
  }
  return secrets
})

/** Address of the database for its owner: of the running server, else of one that is started until the scope closes. */
export const openServer = Effect.fnUntraced(function*(dataDir: string) {
  const running = yield* Effect.try({
    try: () => runningUrl(dataDir),
    catch: (cause) => new StartupError({ message: `DATA_DIR: ${dataDir} cannot be read (${String(cause)})` })
  })
  return running ?? (yield* startEmbeddedPostgres({ dataDir })).url
})
