#!/usr/bin/env node
// The command `pitboss`: programs of the service, and every command of the back office. Plain JavaScript, since it begins on the caller's Node.js, 20 or
// later, and goes on with the one that is installed with the service. The back office's commands load one bundled file (scripts/bundle.ts), else the
// sources; each program is a process of its own.
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs"
import module from "node:module"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const self = fileURLToPath(import.meta.url)
const root = dirname(dirname(self))
/** A packed service is compiled, and has neither a lock file nor anything to build. */
const isCheckout = existsSync(join(root, "package-lock.json"))

/** Programs by name: what they are for, their file, what is made ready first, and flags of Node.js. */
const programs = {
  start: {
    about: "Run the service",
    file: "src/main",
    needs: ["pages.ts"],
    flags: ["--max-semi-space-size=64", "--no-allocation-site-pretenuring"]
  },
  cluster: { about: "Run several nodes over one database", file: "scripts/cluster", needs: ["pages.ts"] },
  demo: {
    about: "Play against the running service and check every answer",
    file: "scripts/demo",
    flags: ["--disable-warning=ExperimentalWarning"]
  },
  doctor: { about: "Say what would stop or slow a production start", file: "scripts/doctor" },
  trigger: { about: "Make an event really happen in a sandbox", file: "scripts/trigger" },
  listen: { about: "Post an operator's events to a local address", file: "scripts/listen" },
  backup: { about: "Back up the embedded database, also while the service runs", file: "scripts/backup" },
  restore: { about: "Restore a backup into an empty DATA_DIR and verify its ledger", file: "scripts/restore" },
  "simulate-provider": { about: "Be a game provider, its server and its players", file: "scripts/simulators/main" }
}

const stop = (line) => {
  process.stderr.write(`pitboss: ${line}\n`)
  process.exit(1)
}

/** Becomes another process where the system and this Node.js let it, else waits for it, hands signals on and ends as it does. */
const become = (program, args) => {
  if (typeof process.execve === "function" && process.platform !== "win32") {
    process.execve(program, [program, ...args], process.env)
  }
  const child = spawn(program, args, { stdio: "inherit" })
  const forwarded = ["SIGINT", "SIGTERM", "SIGHUP"]
  // a terminal sends SIGINT to both
  for (const signal of forwarded) {
    process.on(signal, () => signal === "SIGINT" && process.stdin.isTTY || child.kill(signal))
  }
  child.on("error", (error) => stop(error.message))
  child.on("exit", (code, signal) => {
    for (const name of forwarded) process.removeAllListeners(name)
    if (signal === null) process.exitCode = code ?? 1
    else process.kill(process.pid, signal)
  })
}

const prepare = (script) => {
  const { status } = spawnSync(process.execPath, [join(root, "scripts", script)], { stdio: ["ignore", 2, "inherit"] })
  if (status !== 0) process.exit(status ?? 1)
}

/** The Node.js that is installed with the service, undefined while it is not. */
const bundledNode = () => {
  const [system, name] = process.platform === "win32" ? ["win", "node.exe"] : [process.platform, "node"]
  try {
    const found = module.createRequire(self).resolve(`node-${system}-${process.arch}/package.json`)
    return join(dirname(found), "bin", name)
  } catch {
    return undefined
  }
}

const isOld = Number(process.versions.node.split(".")[0]) < 24

/** Folder of Node.js's compile cache: the checkout's, DATA_DIR's where there is one or will be, else the user's. */
const compiled = () => {
  if (isCheckout) return join(root, "dist", "compiled")
  const data = process.env.DATA_DIR || ".data"
  if (["start", "cluster"].includes(name)) mkdirSync(data, { recursive: true, mode: 0o711 })
  return existsSync(data)
    ? join(data, "compiled")
    : join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "pitboss")
}

/** Whether the bundle was made of these sources. */
const isCurrent = (folder) => {
  if (!existsSync(join(folder, "command.mjs"))) return false
  if (!isCheckout) return true
  const sources = Object.entries(JSON.parse(readFileSync(join(folder, "sources.json"), "utf8")))
  return sources.every(([file, time]) => (statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0) === time)
}

/** The bundle; in a checkout made again when the sources are other ones, and the sources where it cannot be made. */
const commandLine = () => {
  const folder = join(root, "dist", "command")
  if (!isCurrent(folder) && isCheckout) {
    spawnSync(process.execPath, [join(root, "scripts", "bundle.ts")], { stdio: "ignore" })
  }
  return isCurrent(folder) ? join(folder, "command.mjs") : sourceOf("src/cli")
}

const sourceOf = (name) => join(root, `${name}.${isCheckout ? "ts" : "js"}`)

const [word = "help", ...rest] = process.argv.slice(2)
const name = word === "help" || word === "-h" ? "--help" : word
const program = Object.hasOwn(programs, name) ? programs[name] : undefined

// the service is set by variables: it must not start where somebody asks how to
if (name === "start" && rest.length > 0) {
  const isAsked = rest.every((word) => ["--help", "-h"].includes(word))
  const usage =
    "USAGE\n  pitboss start\n\nIt takes no flags. Its settings are environment variables: docs/operations.md, Settings.\n"
  process[isAsked ? "stdout" : "stderr"].write(isAsked ? `${programs.start.about}\n\n${usage}` : usage)
  process.exit(isAsked ? 0 : 2)
}
if (isCheckout && (program !== undefined || bundledNode() === undefined)) prepare("bootstrap.mjs")
if (isOld) {
  become(bundledNode() ?? stop(`Node.js 24 or later is needed, this is ${process.versions.node}`), [
    self,
    ...process.argv.slice(2)
  ])
} else if (program !== undefined) {
  for (const script of isCheckout ? program.needs ?? [] : []) prepare(script)
  if (!isCheckout) process.env.NODE_COMPILE_CACHE ||= compiled()
  become(process.execPath, [...program.flags ?? [], sourceOf(program.file), ...rest])
} else {
  if (name === "--help") {
    const width = Math.max(...Object.keys(programs).map(({ length }) => length))
    const lines = Object.entries(programs).map(([key, { about }]) => `  ${key.padEnd(width)}  ${about}`)
    process.stdout.write(`PROGRAMS\n${lines.join("\n")}\n\n`)
    process.argv[2] = "--help"
  }
  module.enableCompileCache(compiled())
  await import(pathToFileURL(commandLine()))
}
