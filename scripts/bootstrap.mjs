// Runs before every npm script, on whatever Node.js 20 or later the machine has, so it is plain JavaScript that needs
// nothing installed. It installs the dependencies, the bundled Node.js among them, when the installed tree is missing
// or differs from the lock file, and is silent when there is nothing to do. Development packages are installed for
// scripts that say `--dev`, and stay once they are there: no script removes what another one needs.
import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

// progress that cannot be shown (a full disk, a closed pipe) does not stop the installation
process.stderr.on("error", () => {})

/** Exits with one line on standard error and no stack: the first output on a fresh clone. */
const stop = (line) => {
  process.stderr.write(`pitboss: ${line}\n`)
  process.exit(1)
}

/** Packages of a lock file by folder; undefined without a readable lock file. */
const packagesOf = (file) => {
  if (!existsSync(file)) return undefined
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages
  } catch {
    return undefined
  }
}

/** The package that brings Node.js for this system. npm compares it with the lock file's checksum like any other. */
const runtime = `node_modules/node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`

/** npm's record of the installed tree. */
const record = join(root, "node_modules", ".package-lock.json")
const present = packagesOf(record)

/** Whether development packages are wanted: asked for, or installed before. */
const withDev = process.argv.includes("--dev") || Object.values(present ?? {}).some(({ dev }) => dev === true)

/**
 * Whether npm's record of the installed tree (written after its last install) agrees with the lock file. Contents
 * and not timestamps are compared, because those of a fresh clone or a switched branch are arbitrary.
 */
const isInstalled = (wanted, present) => {
  if (present === undefined) return false
  if (wanted[runtime] !== undefined && !existsSync(join(root, "node_modules", ".bin", "node"))) return false
  return Object.entries(wanted).every(([folder, entry]) => {
    if (folder === "" || (entry.dev === true && !withDev)) return true
    const found = present[folder]
    if (found === undefined) return entry.optional === true && folder !== runtime
    return found.version === entry.version && found.integrity === entry.integrity
  })
}

const run = (command, args) =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    child.stdout.on("data", (chunk) => (output += chunk))
    child.stderr.on("data", (chunk) => (output += chunk))
    child.on("error", (error) => resolve({ code: 1, output: error.message }))
    child.on("close", (code) => resolve({ code, output }))
  })

/** Error text of npm, without its prefixes and its hint about a log file. */
const complaint = (output) => {
  const lines = output.split("\n").map((line) => line.trim()).filter((line) => line !== "")
  const errors = lines
    .filter((line) => /^npm (error|ERR!) /.test(line) && !/complete log/.test(line))
    .map((line) => line.replace(/^npm (error|ERR!) /, ""))
    .filter((line) => !/^(code|syscall|errno|type|\s*at) /.test(line))
  return errors.slice(0, 2).join("; ") || lines.at(-1) || "npm said nothing"
}

/** Shows progress in one line: redrawn on a terminal, written once elsewhere. Returns the function that ends it. */
const progress = (text) => {
  if (!process.stderr.isTTY) {
    process.stderr.write(`pitboss: ${text}\n`)
    return () => {}
  }
  let seconds = 0
  const draw = () => process.stderr.write(`\rpitboss: ${text} ${seconds} s`)
  draw()
  const timer = setInterval(() => {
    seconds += 1
    draw()
  }, 1000)
  return () => {
    clearInterval(timer)
    process.stderr.write("\n")
  }
}

const major = Number(process.versions.node.split(".")[0])
if (major < 20) stop(`Node.js 20 or later is needed to install the service, this is ${process.versions.node}`)
const wanted = packagesOf(join(root, "package-lock.json"))
if (wanted === undefined) stop("package-lock.json is missing or unreadable, the dependencies cannot be installed")
if (wanted[runtime] === undefined && major < 24) {
  stop(
    `there is no Node.js package for ${process.platform}-${process.arch}: install Node.js 24 or later, this is ` +
      process.versions.node
  )
}

if (!isInstalled(wanted, present)) {
  const done = progress("installing dependencies, this takes a minute")
  const npm = process.platform === "win32" ? "npm.cmd" : "npm"
  const { code, output } = await run(npm, ["ci", withDev ? "--include=dev" : "--omit=dev", "--include=optional"])
  done()
  if (code !== 0) stop(`installing the dependencies failed: ${complaint(output)}`)
  if (!isInstalled(wanted, packagesOf(record))) {
    stop("the dependencies are incomplete after installing them; are install scripts switched off (ignore-scripts)?")
  }
}
