import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"

const root = Path.join(import.meta.dirname, "..", "..")
const page = Fs.readFileSync(Path.join(root, "docs", "testing.md"), "utf8")
const examples = [...page.matchAll(/<!-- (test\/examples\/[\w.]+) -->\n+```ts\n([\s\S]*?)```/g)]

// Goal: the page shows code that is run. Method: compare each block with the file it names.
describe("docs/testing.md", () => {
  it("shows every example", () => {
    const files = Fs.readdirSync(import.meta.dirname).filter((file) => file !== "documented.test.ts")
    assert.sameMembers(examples.map(([, file]) => file?.split("/").at(-1)), files)
  })
  for (const [, file = "", shown] of examples) {
    it(`shows ${file} as it is`, () => {
      assert.strictEqual(shown, Fs.readFileSync(Path.join(root, file), "utf8"))
    })
  }
})
