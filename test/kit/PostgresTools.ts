/** The system's PostgreSQL programs, and a server of that version for a test. */
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { delimiter, join } from "node:path"
import { findLauncher, freePort, runTool, startServer } from "../../src/platform/PostgresProcess.ts"
import { StartupError } from "../../src/platform/StartupError.ts"
import { serverFolder } from "./E2eDatabase.ts"

const needed = ["postgres", "initdb", "pg_dump", "pg_restore"]

export interface PostgresTools {
  readonly folder: string
  /** Like `15.4`. */
  readonly version: string
}

const versionOf = (folder: string): string =>
  /[0-9.]+/.exec(spawnSync(join(folder, "postgres"), ["--version"], { encoding: "utf8" }).stdout)?.[0] ?? ""

/** The folder of `PG_BIN`, one in `PATH`, else the newest that Debian's packages made; undefined where none has all programs. */
export const findPostgresTools = (): PostgresTools | undefined => {
  const debian = "/usr/lib/postgresql"
  const installed = Fs.existsSync(debian)
    ? Fs.readdirSync(debian).sort((one, other) => Number(other) - Number(one)).map((name) => join(debian, name, "bin"))
    : []
  const folders = [process.env["PG_BIN"] ?? "", ...(process.env["PATH"] ?? "").split(delimiter), ...installed]
  const folder = folders.find((one) => one !== "" && needed.every((name) => Fs.existsSync(join(one, name))))
  return folder === undefined ? undefined : { folder, version: versionOf(folder) }
}

/** A server of these programs on a folder of its own, until the scope closes. Gives the address without a database's name. */
export const startSystemPostgres = Effect.fnUntraced(function*({ folder }: PostgresTools) {
  const home = yield* serverFolder
  const data = join(home, "data")
  Fs.mkdirSync(data, { mode: 0o700 })
  const postgres = join(folder, "postgres")
  const { launcher } = yield* findLauncher(postgres, data)
  yield* runTool(launcher, join(folder, "initdb"), [
    `--pgdata=${data}`,
    "--username=owner",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--no-sync"
  ])
  const port = yield* freePort
  const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "shared_buffers=64MB"]
  yield* startServer(
    launcher,
    postgres,
    ["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
    () => undefined
  ).pipe(Effect.mapError(({ reason }) => new StartupError({ message: reason })))
  return `postgres://owner@127.0.0.1:${port}`
})

const asItself = {
  command: (program: string, args: ReadonlyArray<string>) => [program, args] as const,
  uid: undefined,
  gid: undefined
}

/** Runs one of the programs to its end; it must end well. */
export const runPostgresTool = ({ folder }: PostgresTools, name: string, args: ReadonlyArray<string>) =>
  runTool(asItself, join(folder, name), args)
