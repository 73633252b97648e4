/** Runs PostgreSQL's server and tools as an unprivileged user, and cleans up after a killed service. */
import { Effect, Schedule, type Scope } from "effect"
import { spawn, spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Path from "node:path"
import { isRunning } from "./DataDirectoryLock.ts"
import { StartupError } from "./StartupError.ts"

/**
 * Launches PostgreSQL programs: directly, or as another user (PostgreSQL refuses to run as root), and, where supported, with a signal from the kernel
 * when this process dies.
 */
export interface Launcher {
  readonly command: (program: string, args: ReadonlyArray<string>) => readonly [string, ReadonlyArray<string>]
  readonly uid: number | undefined
  readonly gid: number | undefined
  /** Folders in which the programs find libraries before their own, as a path; none where theirs is complete. */
  readonly libraries?: string | undefined
}

interface User {
  readonly uid: number
  readonly gid: number
}

/** User for PostgreSQL when the service is root: the folder's owner, otherwise the first existing one of these. */
const unprivilegedUser = (dataDirectory: string): User | undefined => {
  const owner = Fs.statSync(dataDirectory, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const users = Fs.existsSync("/etc/passwd") ? Fs.readFileSync("/etc/passwd", "utf8").split("\n") : []
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(":") ?? []
    if (Number(uid) > 0 && Number(gid) > 0) return { uid: Number(uid), gid: Number(gid) }
  }
  return undefined
}

const canRun = (launcher: Launcher, postgres: string, directory: string): boolean => {
  // PostgreSQL executes the program, checks that it is executable, and enters the data directory
  const script = "test -x \"$0\" && cd \"$1\" && \"$0\" --version >/dev/null"
  const [command, args] = launcher.command("/bin/sh", ["-c", script, postgres, directory])
  return spawnSync(command, args, { ...credentials(launcher), cwd: "/", env: environment(launcher), stdio: "ignore" })
    .status === 0
}

/** Environment of PostgreSQL and its tools: SQL can read it, and the service's holds `MASTER_KEY` and `BACKOFFICE_TOKEN`. */
const environment = ({ libraries }: Launcher): NodeJS.ProcessEnv => {
  const kept = ["PATH", "TMPDIR", "SystemRoot"].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  const searched = process.platform === "darwin" ? "DYLD_LIBRARY_PATH" : "LD_LIBRARY_PATH"
  return { ...Object.fromEntries(kept), LC_ALL: "C", ...(libraries === undefined ? {} : { [searched]: libraries }) }
}

const credentials = ({ gid, uid }: Launcher) => uid === undefined || gid === undefined ? {} : { uid, gid }

/**
 * Finds a way to run PostgreSQL on `dataDirectory`, an existing folder. As root it drops to an unprivileged user; when that user cannot reach the
 * folder (a clone below a private home), it keeps the one capability that passes closed folders.
 */
export const findLauncher = Effect.fnUntraced(function*(postgres: string, dataDirectory: string, libraries?: string) {
  const setpriv = process.platform === "linux" && spawnSync("setpriv", ["--version"], { stdio: "ignore" }).status === 0
  const withSetpriv = (flags: ReadonlyArray<string>): Launcher => ({
    command: (program, args) => ["setpriv", [...flags, "--pdeathsig", "INT", "--", program, ...args]],
    uid: undefined,
    gid: undefined,
    libraries
  })
  const direct = (user: User | undefined): Launcher => ({
    command: (program, args) => [program, args],
    uid: user?.uid,
    gid: user?.gid,
    libraries
  })
  if (process.getuid?.() !== 0) {
    const candidates = setpriv ? [withSetpriv([]), direct(undefined)] : [direct(undefined)]
    const found = candidates.find((launcher) => canRun(launcher, postgres, dataDirectory))
    return { launcher: found ?? direct(undefined), owner: undefined }
  }
  const user = unprivilegedUser(dataDirectory)
  if (user === undefined) {
    return yield* new StartupError({
      message: "the embedded PostgreSQL cannot run as root and this system has neither the user postgres nor nobody"
    })
  }
  yield* Effect.try({
    try: () => Fs.chownSync(dataDirectory, user.uid, user.gid),
    catch: (cause) =>
      new StartupError({ message: `DATA_DIR: the owner of ${dataDirectory} cannot be changed (${String(cause)})` })
  })
  const identity = [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"]
  // Without this bit access(2) ignores the capability, and PostgreSQL asks access(2) about its own programs.
  const passing = (capability: string) => [
    ...identity,
    "--securebits=+no_setuid_fixup",
    `--inh-caps=-all,+${capability}`,
    `--ambient-caps=+${capability}`
  ]
  const candidates = setpriv
    ? [
      withSetpriv(identity),
      direct(user),
      withSetpriv(passing("dac_read_search")),
      withSetpriv(passing("dac_override"))
    ]
    : [direct(user)]
  const found = candidates.find((launcher) => canRun(launcher, postgres, dataDirectory))
  if (found === undefined) {
    return yield* new StartupError({
      message: `the embedded PostgreSQL cannot run as root, and user ${user.uid} cannot reach ${dataDirectory}: ` +
        "open the folders above it (chmod o+x), set DATA_DIR, or run as another user"
    })
  }
  return { launcher: found, owner: user }
})

/** Runs a PostgreSQL tool to completion; its last line becomes the error. */
export const runTool = (launcher: Launcher, program: string, args: ReadonlyArray<string>) =>
  Effect.callback<void, StartupError>((resume) => {
    const [command, words] = launcher.command(program, args)
    const child = spawn(command, words, {
      ...credentials(launcher),
      cwd: "/",
      env: environment(launcher),
      stdio: ["ignore", "ignore", "pipe"]
    })
    let output = ""
    child.stderr.on("data", (chunk) => (output += chunk))
    const failed = (reason: string) =>
      resume(Effect.fail(new StartupError({ message: `${Path.basename(program)} failed: ${reason}` })))
    child.on("error", (error) => failed(error.message))
    child.on("close", (code) => code === 0 ? resume(Effect.void) : failed(lastLine(output)))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const lastLine = (output: string): string => {
  const lines = output.split("\n").map((line) => line.trim()).filter((line) => line !== "")
  return lines.findLast((line) => /error|FATAL|PANIC|could not/i.test(line)) ?? lines.at(-1) ?? "no output"
}

/** Free port. Another program may take it meanwhile: the caller retries. */
export const freePort = Effect.callback<number, StartupError>((resume) => {
  const server = Net.createServer()
  server.once("error", (error) => resume(Effect.fail(new StartupError({ message: `no free port (${error.message})` }))))
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

export interface PostgresServer {
  readonly pid: number
  /** Completes when the server process has ended, for any reason. */
  readonly exited: Effect.Effect<void>
}

/** `portTaken` requires another port, `leftover` a retry. */
interface StartFailure {
  readonly kind: "portTaken" | "leftover" | "other"
  readonly reason: string
}

/**
 * Starts `postgres` and waits until it accepts connections. Closing the scope requests a fast shutdown (open transactions roll back, a checkpoint is
 * written) and waits for it.
 */
export const startServer = (
  launcher: Launcher,
  program: string,
  args: ReadonlyArray<string>,
  onLine: (line: string) => void
): Effect.Effect<PostgresServer, StartFailure, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<PostgresServer & { readonly stop: Effect.Effect<void> }, StartFailure>((resume) => {
      const [command, words] = launcher.command(program, args)
      const child = spawn(command, words, {
        ...credentials(launcher),
        cwd: "/",
        env: environment(launcher),
        stdio: ["ignore", "ignore", "pipe"],
        // own process group: Ctrl-C must reach only the service, which needs its database to drain
        detached: true
      })
      let output = ""
      let ended = false
      const exited = Effect.callback<void>((done) => {
        if (ended) done(Effect.void)
        else child.once("exit", () => done(Effect.void))
      })
      const stop = Effect.gen(function*() {
        if (ended) return
        child.kill("SIGINT")
        yield* exited.pipe(
          Effect.timeoutOrElse({
            duration: "20 seconds",
            orElse: () => Effect.andThen(Effect.sync(() => child.kill("SIGQUIT")), exited)
          })
        )
      })
      let partial = ""
      child.stderr.setEncoding("utf8")
      child.stderr.on("data", (chunk: string) => {
        if (output.length < 20_000) output += chunk
        const lines = (partial + chunk).split("\n")
        partial = lines.pop() ?? ""
        for (const line of lines) onLine(line)
        if (child.pid !== undefined && lines.some((line) => /ready to accept (read-only )?connections/.test(line))) {
          resume(Effect.succeed({ pid: child.pid, exited, stop }))
        }
      })
      child.once("error", (error) => {
        ended = true
        resume(Effect.fail({ kind: "other", reason: error.message }))
      })
      child.once("exit", () => {
        ended = true
      })
      child.once("close", () => {
        const kind = /Address already in use/.test(output)
          ? "portTaken"
          : /pre-existing shared memory block|lock file .* already exists/.test(output)
          ? "leftover"
          : "other"
        resume(Effect.fail({ kind, reason: lastLine(output) }))
      })
      return Effect.suspend(() => stop)
    }),
    (server) => server.stop
  )

/** Pid and port in a data directory's `postmaster.pid`. */
const readPidFile = (dataDirectory: string) => {
  const file = Path.join(dataDirectory, "postmaster.pid")
  if (!Fs.existsSync(file)) return undefined
  const [pid, , , port] = Fs.readFileSync(file, "utf8").split("\n").map(Number)
  return pid !== undefined && pid > 0 ? { pid, port: port ?? 0 } : undefined
}

/** Arguments of a process, as text; empty where the system does not tell them. */
const argumentsOf = (pid: number): string => {
  try {
    return Fs.readFileSync(`/proc/${pid}/cmdline`, "utf8")
  } catch {
    return spawnSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" }).stdout ?? ""
  }
}

/** True when `pid` is a server on this data directory: by its working directory or its arguments. */
const servesDirectory = (pid: number, dataDirectory: string): boolean => {
  try {
    return Fs.readlinkSync(`/proc/${pid}/cwd`) === Fs.realpathSync(dataDirectory)
  } catch {
    return argumentsOf(pid).includes(dataDirectory)
  }
}

/** Pid and port of the server that runs on a data directory; undefined without one, also where the pid of its file belongs to another program. */
export const runningServer = (dataDirectory: string) => {
  const found = readPidFile(dataDirectory)
  if (found === undefined || !(found.port > 0) || !isRunning(found.pid)) return undefined
  return servesDirectory(found.pid, dataDirectory) ? found : undefined
}

/**
 * Cleans up after a killed service: stops a server that still runs (found by the pid file, and only if it serves this directory), and removes a pid
 * file whose pid now belongs to another program, which PostgreSQL would mistake for a running server.
 */
export const stopLeftover = Effect.fnUntraced(function*(dataDirectory: string) {
  const pid = readPidFile(dataDirectory)?.pid
  if (pid === undefined || !isRunning(pid)) return
  if (!servesDirectory(pid, dataDirectory)) {
    yield* Effect.sync(() => Fs.rmSync(Path.join(dataDirectory, "postmaster.pid"), { force: true }))
    return
  }
  yield* Effect.logWarning("stopping the embedded PostgreSQL of an earlier run")
  const stopped = Effect.sync(() => isRunning(pid)).pipe(
    Effect.repeat({ schedule: Schedule.spaced("50 millis"), while: (running) => running }),
    Effect.timeoutOption("10 seconds")
  )
  for (const signal of ["SIGINT", "SIGQUIT"] as const) {
    yield* Effect.sync(() => isRunning(pid) && process.kill(pid, signal))
    if ((yield* stopped)._tag === "Some") return
  }
  return yield* new StartupError({
    message: `DATA_DIR: the embedded PostgreSQL of an earlier run (process ${pid}) does not stop`
  })
})
