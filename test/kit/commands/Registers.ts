/** Cases of `register`. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { makeFakeRegister } from "../../../scripts/registers/FakeRegister.ts"
import { casinoUnder, dataOf, type Fields, fresh, made, openCasino, registration } from "../Casino.ts"
import { type CommandCase, done, nobody } from "./Scene.ts"

const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "registers-"))

/** A file with settings. */
const fileWith = (settings: Fields): string => {
  const file = Path.join(folder, `${fresh("settings-")}.json`)
  Fs.writeFileSync(file, JSON.stringify(settings))
  return file
}

const intermediary = { url: "https://register.example/check", api_key: "secret" }
const settings = fileWith(intermediary)
const unknownSetting = fileWith({ ...intermediary, colour: "red" })
const moved = fileWith({ url: "https://elsewhere.example/check" })

/** A casino under rules that have a register asked at registration, connected to its fake, with a player. */
const connected = Effect.gen(function*() {
  const fake = yield* makeFakeRegister({ kind: "generic" })
  const on = { registration: { max_age: "PT0S", unavailable: "refuse" } }
  const casino = yield* casinoUnder({ registers: [{ kind: "generic", on }] })
  const { id } = yield* made("/registers", { operator: casino.slug, kind: "generic", settings: fake.settings })
  const player = dataOf(yield* casino.post("/players", registration(fresh("p-"))), 201)
  return { ...casino, fake, register: String(id), player: String(player.id) }
})

export const registerCases: ReadonlyArray<CommandCase> = [
  {
    line: `register create --operator $rival --kind generic --settings ${settings}`,
    misused: [
      `register create --operator $rival --kind lottery --settings ${settings}`,
      "register create --operator $rival --kind generic --settings /no/such/file.json"
    ],
    refused: [
      [`register create --operator nobody --kind generic --settings ${settings}`, "NOT_FOUND"],
      [`register create --operator $rival --kind generic --settings ${unknownSetting}`, "VALIDATION_FAILED"],
      [`register create --operator $house --kind gamstop --settings ${settings}`, "VALIDATION_FAILED"]
    ],
    *works() {
      const { slug } = yield* openCasino()
      const line = `register create --operator ${slug} --kind generic --settings ${settings}`
      const register = yield* done(line)
      assert.deepInclude(register, { kind: "generic", active: true, settings: { url: intermediary.url } })
    },
    changes: () =>
      Effect.map(openCasino(), ({ slug }) => ({
        line: `register create --operator ${slug} --kind generic --settings ${settings}`,
        differs: []
      }))
  },
  {
    line: "register update $register",
    misused: ["register update $register --active maybe"],
    refused: [
      [`register update ${nobody} --active false`, "NOT_FOUND"],
      [`register update $register --settings ${moved}`, "VALIDATION_FAILED"]
    ],
    *works() {
      const { slug } = yield* openCasino()
      const { id } = yield* made("/registers", { operator: slug, kind: "generic", settings: intermediary })
      const changed = yield* done(`register update ${id} --active false`)
      assert.deepInclude(changed, { active: false, settings: { url: intermediary.url } })
      const elsewhere = fileWith({ url: "https://elsewhere.example/check", api_key: "another" })
      assert.deepInclude((yield* done(`register update ${id} --settings ${elsewhere}`)).settings, {
        url: "https://elsewhere.example/check"
      })
    },
    changes: () =>
      Effect.gen(function*() {
        const { slug } = yield* openCasino()
        const { id } = yield* made("/registers", { operator: slug, kind: "generic", settings: intermediary })
        return { line: `register update ${id} --active false`, differs: ["active"] }
      })
  },
  {
    line: "register show $register",
    misused: ["register show mine"],
    refused: [[`register show ${nobody}`, "NOT_FOUND"]],
    *works({ names }) {
      const shown = yield* done(`register show ${names["register"]}`)
      assert.deepInclude(shown, { kind: "gamstop", secret_settings: ["api_key"] })
      assert.notProperty(shown.settings, "api_key")
    }
  },
  {
    line: "register list",
    misused: ["register list all"],
    refused: [["register list --operator nobody", "NOT_FOUND"]],
    *works({ house, names }) {
      const listed: ReadonlyArray<{ readonly id: number }> = yield* done(`register list --operator ${house.slug}`)
      assert.sameMembers(listed.map(({ id }) => String(id)), [names["register"], names["screening"]])
    }
  },
  {
    line: "register test $register --player $player",
    misused: ["register test $register --player somebody"],
    refused: [
      [`register test ${nobody} --player $player`, "NOT_FOUND"],
      ["register test $register --player $foreigner", "VALIDATION_FAILED"]
    ],
    *works() {
      const { player, register } = yield* connected
      const check = yield* done(`register test ${register} --player ${player}`)
      assert.deepInclude(check, { event: "refresh", verdict: "clear", player_id: Number(player), fault: null })
    },
    changes: () =>
      Effect.map(connected, ({ player, register }) => ({
        line: `register test ${register} --player ${player}`,
        differs: []
      }))
  },
  {
    line: "register refresh generic --operator $house",
    misused: ["register refresh --operator $house"],
    refused: [
      ["register refresh generic --operator nobody", "NOT_FOUND"],
      ["register refresh lottery --operator $house", "VALIDATION_FAILED"]
    ],
    *works() {
      const { slug } = yield* connected
      assert.deepStrictEqual(yield* done(`register refresh generic --operator ${slug}`), {
        asked: 0,
        excluded: 0,
        unavailable: 0,
        has_more: false
      })
    },
    changes: ({ house }) => Effect.succeed({ line: `register refresh generic --operator ${house.slug}`, differs: [] })
  },
  {
    line: "register checks",
    misused: ["register checks --verdict maybe"],
    refused: [["register checks --operator nobody", "NOT_FOUND"]],
    *works() {
      const { player, slug } = yield* connected
      const [check, ...others] = yield* done(`register checks --operator ${slug} --verdict clear`)
      assert.deepStrictEqual(others, [])
      assert.deepInclude(check, { event: "registration", verdict: "clear", player_id: Number(player) })
    }
  }
]
