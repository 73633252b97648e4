import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { ProviderProtocols } from "../../src/features/integrations/ProviderSettings.ts"
import { RememberedEnds } from "../../src/chain/Ends.ts"
import { layerCasinos, runHere } from "../kit/Backoffice.ts"
import { operatorWith } from "../kit/HttpCalls.ts"
import { dataOf, fresh, made, openCasino, registration, staffCall } from "../kit/Casino.ts"
import { cases } from "../kit/commands/Cases.ts"
import { commandOf } from "../kit/commands/Scene.ts"
import { makeFakeRegister } from "../../scripts/registers/FakeRegister.ts"
import { fakeProtocol, makeFakeVendor } from "../kit/FakeVendor.ts"

// Goal: docs/backoffice.md is right: its examples work in their order, every command has one, its table of roles
// matches the code, and every page of the browser has a section with its screenshot. Method: read the page, run its examples against a fresh
// service, and compare the table and the sections.

const root = Path.join(import.meta.dirname, "..", "..")
const page = Fs.readFileSync(Path.join(root, "docs", "backoffice.md"), "utf8")

const prompt = "pitboss "

/** Examples of the page without the command that starts the command line. */
const examples = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = ""]) => block.trim().split("\n"))

/** Words of an example after shell expansion of its variables. */
const wordsOf = (line: string): ReadonlyArray<string> =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "")

/** Variables of the page for values printed by a command. */
const kept: { readonly [command: string]: string } = {
  "staff create": "STAFF",
  "licensee create": "LICENSEE",
  "game create": "GAME",
  "game list": "BOOK",
  "free-rounds issue": "FREE_ROUNDS",
  "bonus create": "BONUS",
  "bonus grant": "PLAYER_BONUS",
  "promo create": "PROMO",
  "webhook create": "WEBHOOK",
  "webhook ping": "DELIVERY",
  "audit list": "LINE",
  "obligation list": "OBLIGATION",
  "register create": "REGISTER",
  "case open": "CASE"
}

/** Prints a document per line; tested by chainExport.test.ts, as is `ledger check-export`, which calls no service. */
const printsLines = "ledger export"

const documentOf = (command: string, printed: string): unknown =>
  command === printsLines ? printed.trimEnd().split("\n").map((line) => JSON.parse(line)) : JSON.parse(printed)

describe("the back-office documentation page", () => {
  // the help of every command is in a golden file
  it("has an example for every group of commands, and none for a command that does not exist", () => {
    assert.isTrue(examples.every((line) => line.startsWith(prompt)))
    const shown = new Set(examples.map((line) => commandOf(line.slice(prompt.length))))
    // those of `alert` are in docs/alerts.md, see compliance.test.ts
    const ours = cases.map(({ line }) => commandOf(line)).filter((name) => !name.startsWith("alert "))
    assert.includeMembers([...ours, printsLines], [...shown])
    const nounsOf = (commands: Iterable<string>) => new Set([...commands].map((command) => command.split(" ")[0]))
    assert.sameMembers([...nounsOf(shown)], [...nounsOf(ours)])
  })

  it("has a section with a picture for every page, and shows every picture", () => {
    const [, browser = ""] = page.split("\n## ")
    const sections = browser.split("\n### ").slice(1).map((section) => ({
      heading: section.split("\n", 1)[0],
      pictures: [...section.matchAll(/!\[[^\]]+\]\(images\/([^)]+)\)/g)].map(([, picture]) => picture)
    }))
    const navigation = Fs.readFileSync(Path.join(root, "src", "pages", "app", "pages.ts"), "utf8")
    const headings = [...navigation.matchAll(/heading: "([^"]+)"/g)].map(([, heading]) => heading)
    const pictured = sections.filter(({ pictures }) => pictures.length > 0).map(({ heading }) => heading)
    assert.isAbove(headings.length, 0)
    assert.includeMembers(pictured, ["Sign in", "Account", "A player", ...headings])
    // that of the casino stands where it is described
    const [casino = []] = Fs.readFileSync(Path.join(root, "README.md"), "utf8").matchAll(
      /\(docs\/images\/(casino\.png)\)/g
    )
    assert.sameMembers(
      [...sections.flatMap(({ pictures }) => pictures), casino[1]],
      Fs.readdirSync(Path.join(root, "docs", "images"))
    )
  })
})

const live = layerCasinos.pipe(
  // the page's vendor, with a protocol of the tests
  Layer.provide(Layer.succeed(ProviderProtocols, [{ ...fakeProtocol, name: "hub88" }]))
)

layer(live, { excludeTestServices: true })("the examples of the back-office documentation page", (it) => {
  it.effect("run successfully, one after the other", () =>
    Effect.gen(function*() {
      const variables = new Map<string, string>()
      let lucky = operatorWith({ key: "", secret: "" })
      const ofPlayer = (path: string) => `/players/${variables.get("PLAYER")}${path}`

      /** Steps of the operator's system once it has its key. */
      const register = Effect.gen(function*() {
        const { id } = dataOf(yield* lucky.post("/players", registration(fresh("ada_"))), 201)
        variables.set("PLAYER", String(id))
        const { id: closed } = dataOf(yield* lucky.post("/players", registration(fresh("bob_"))), 201)
        dataOf(yield* lucky.put(`/players/${closed}/status`, { status: "closed" }))
        variables.set("CLOSED_PLAYER", String(closed))
        const body = { amount: 400_000, external_reference: fresh("d"), notes: "by phone" }
        variables.set("DEPOSIT", String(dataOf(yield* lucky.post(ofPlayer("/deposits"), body), 201).id))
      })

      const withdraw = (name: string) =>
        Effect.gen(function*() {
          const body = { amount: 50_000, payment_method: "bank" }
          variables.set(name, String(dataOf(yield* lucky.post(ofPlayer("/withdrawals"), body), 201).id))
        })

      /** Stores the output of an example for later ones, and runs the operator's steps in between. */
      const goOn = Effect.fnUntraced(function*(command: string, words: ReadonlyArray<string>, printed: unknown) {
        const { id, key, secret } = Object(Array.isArray(printed) ? printed[0] : printed)
        const name = kept[command]
        if (name !== undefined && id !== undefined) variables.set(name, String(id))
        if (command === "key create") variables.set("KEY", String(key))
        if (command === "key create" && words.includes("lucky")) {
          lucky = operatorWith({ key, secret })
          yield* register
        }
        if (command === "player notes") {
          const { token } = yield* made("/staff", { name: "Clerk", role: "payments" })
          yield* Effect.forEach(["CORRECTION", "SECOND_CORRECTION"], (name) =>
            Effect.map(
              staffCall(
                "POST",
                `/backoffice/v1/players/${variables.get("PLAYER")}/corrections`,
                { amount: 300_000, reason: "the game did not pay" },
                { authorization: `Bearer ${token}` }
              ),
              ({ data }) => variables.set(name, String(data.id))
            ))
        }
        if (command === "ledger export") {
          // as before a backup was restored
          const { restore } = yield* RememberedEnds
          restore({ seal: { seal: "999999", hash: "0".repeat(64) }, heads: [], at: 0 })
          const casino = yield* openCasino()
          const seat = yield* casino.sit()
          variables.set("STUDIO", casino.studio.slug)
          const { transaction_id: bet } = dataOf(yield* seat.bet(100))
          variables.set("ROUND", bet).set("MESSAGE", bet)
        }
        if (command === "payment-method list") {
          yield* Effect.forEach(["WITHDRAWAL", "SECOND_WITHDRAWAL", "THIRD_WITHDRAWAL"], withdraw)
        }
      })

      const vendor = yield* makeFakeVendor
      const facts = { type: "rng", category: "slots", rtp: 96.5, thumbnailUrl: null } as const
      vendor.games = [{ ...facts, externalId: "book", name: "Book" }]
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "pitboss-page-"))),
        (made) => Effect.sync(() => Fs.rmSync(made, { recursive: true }))
      )
      const files: { readonly [name: string]: unknown } = {
        "north.json": vendor.settings,
        "register.json": (yield* makeFakeRegister({ kind: "generic" })).settings
      }
      for (const [name, settings] of Object.entries(files)) {
        Fs.writeFileSync(Path.join(folder, name), JSON.stringify(settings))
      }

      for (const example of examples) {
        const line = example.slice(prompt.length).replaceAll(/\$([A-Z_]+)/g, (_, name: string) => {
          const value = variables.get(name)
          return value ?? assert.fail(`${example}: nothing was said of ${name}`)
        })
        const words = wordsOf(line).map((word) => files[word] === undefined ? word : Path.join(folder, word))
        const { exitCode, stderr, stdout } = yield* runHere(words)
        assert.deepStrictEqual([exitCode, stderr], [0, ""], example)
        yield* goOn(commandOf(line), words, documentOf(commandOf(line), stdout))
      }
    }))
})
