import { assert, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"

// Goal: scripts install what they need and remove nothing that another one needs. Method: the bootstrap in a folder of its own, with an npm that
// writes down how it was called and installs by writing npm's record.

const npm = `#!/usr/bin/env node
const fs = require("node:fs")
fs.appendFileSync("calls", process.argv.slice(2).join(" ") + "\\n")
const { packages } = JSON.parse(fs.readFileSync("package-lock.json", "utf8"))
const wanted = Object.entries(packages).filter(([folder, { dev }]) =>
  folder !== "" && (dev !== true || process.argv.includes("--include=dev")))
fs.mkdirSync("node_modules", { recursive: true })
fs.writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages: Object.fromEntries(wanted) }))
`

const lock = (version: string) =>
  JSON.stringify({
    packages: {
      "": {},
      "node_modules/effect": { version, integrity: "sha512-a" },
      "node_modules/vitest": { version: "5.1.1", integrity: "sha512-b", dev: true },
      "node_modules/pg-native": { version: "1.0.0", integrity: "sha512-c", optional: true }
    }
  })

it("development packages are installed by the scripts that need them, and are kept afterwards", () => {
  const folder = Fs.mkdtempSync(join(tmpdir(), "pitboss-bootstrap-"))
  try {
    Fs.mkdirSync(join(folder, "scripts"))
    Fs.mkdirSync(join(folder, "bin"))
    Fs.copyFileSync(join(import.meta.dirname, "../../scripts/bootstrap.mjs"), join(folder, "scripts/bootstrap.mjs"))
    Fs.writeFileSync(join(folder, "bin/npm"), npm, { mode: 0o755 })
    Fs.writeFileSync(join(folder, "package-lock.json"), lock("4.1.0"))
    const calls = () => {
      const file = join(folder, "calls")
      const lines = Fs.existsSync(file) ? Fs.readFileSync(file, "utf8").trim().split("\n") : []
      Fs.rmSync(file, { force: true })
      return lines
    }
    const bootstrap = (...args: ReadonlyArray<string>) => {
      execFileSync(process.execPath, [join(folder, "scripts/bootstrap.mjs"), ...args], {
        cwd: folder,
        env: { ...process.env, PATH: `${join(folder, "bin")}${delimiter}${process.env["PATH"] ?? ""}` },
        stdio: "pipe"
      })
      return calls()
    }
    const withoutDev = ["ci --omit=dev --include=optional"]
    const withDev = ["ci --include=dev --include=optional"]
    assert.deepStrictEqual([bootstrap(), bootstrap()], [withoutDev, []])
    assert.deepStrictEqual([bootstrap("--dev"), bootstrap("--dev"), bootstrap()], [withDev, [], []])
    Fs.writeFileSync(join(folder, "package-lock.json"), lock("4.1.1"))
    assert.deepStrictEqual([bootstrap(), bootstrap("--dev")], [withDev, []])
    Fs.rmSync(join(folder, "node_modules"), { recursive: true })
    assert.deepStrictEqual(bootstrap(), withoutDev)
  } finally {
    Fs.rmSync(folder, { recursive: true, force: true })
  }
})
