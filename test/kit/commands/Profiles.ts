/** Cases of `profile`. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { dataOf, type Fields, fresh, made, staffCall } from "../Casino.ts"
import { type CommandCase, done, refusal } from "./Scene.ts"

const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "profiles-"))

/** A file with a document. */
const fileWith = (document: Fields): string => {
  const file = Path.join(folder, `${fresh("profile-")}.json`)
  Fs.writeFileSync(file, JSON.stringify(document))
  return file
}

const island = (more: Fields = {}): Fields => ({ code: fresh("x-island-"), name: "Island", ...more })

/** A version of Malta's rules that waits for an approval; its number. */
const proposed = Effect.gen(function*() {
  const { token } = yield* made("/staff", { name: "Author", role: "admin" })
  const { valid_from: _from, version: _version, ...document } =
    dataOf(yield* staffCall("GET", "/backoffice/v1/profiles/mt")).document
  const added = yield* staffCall("POST", "/backoffice/v1/profiles", { ...document, name: fresh("Malta ") }, {
    authorization: `Bearer ${token}`
  })
  return String(dataOf(added, 201).version)
})

const unknownKey = fileWith(island({ colour: "red" }))

export const profileCases: ReadonlyArray<CommandCase> = [
  {
    line: "profile list",
    misused: ["profile list all"],
    refused: [],
    *works() {
      const codes = (yield* done("profile list")).map(({ code }: { readonly code: string }) => code)
      assert.includeMembers(codes, ["none", "gb", "mt", "se", "dk", "nl", "de", "ca-on"])
    }
  },
  {
    line: "profile show gb",
    misused: ["profile show gb --version first"],
    refused: [["profile show x-nowhere", "NOT_FOUND"], ["profile show gb --version 99", "NOT_FOUND"]],
    *works() {
      const shown = yield* done("profile show gb")
      assert.deepInclude(shown, { code: "gb", version: 1, status: "approved", differences: [] })
      assert.deepStrictEqual(shown.document.stakes, [
        { categories: ["slots"], amount: 500, under_age: 25, amount_under: 200 }
      ])
      assert.deepInclude(shown.document.sources.stakes, { confidence: "B" })
    }
  },
  {
    line: `profile import ${fileWith(island())}`,
    misused: ["profile import /no/such/file.json"],
    refused: [[`profile import ${unknownKey}`, "VALIDATION_FAILED"]],
    *works() {
      const document = island({ minimum_age: 20 })
      const added = yield* done(`profile import ${fileWith(document)}`)
      assert.deepInclude(added, { code: document["code"], version: 1, status: "approved", differences: [] })
      const next = yield* done(`profile import ${fileWith({ ...document, minimum_age: 21 })}`)
      assert.deepStrictEqual([next.version, next.differences], [2, [
        { path: "minimum_age", before: 20, after: 21, effect: "stricter" }
      ]])
      const { message } = yield* refusal(`profile import ${unknownKey}`)
      assert.include(message, "invalid fields")
    },
    changes: () => Effect.sync(() => ({ line: `profile import ${fileWith(island())}`, differs: [] }))
  },
  {
    line: "profile approve mt 2",
    misused: ["profile approve mt second"],
    refused: [["profile approve x-nowhere 1", "NOT_FOUND"], ["profile approve gb 99", "NOT_FOUND"]],
    *works({ tokens }) {
      const version = yield* proposed
      const approved = yield* done(`profile approve mt ${version}`, { names: {} }, tokens["compliance"])
      assert.deepInclude(approved, { code: "mt", version: Number(version), status: "approved" })
    },
    changes: () =>
      Effect.map(proposed, (version) => ({
        line: `profile approve mt ${version}`,
        differs: ["status", "valid_from", "looser_from"]
      }))
  }
]
