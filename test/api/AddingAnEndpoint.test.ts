import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"

const root = Path.join(import.meta.dirname, "..", "..")
const page = Fs.readFileSync(Path.join(root, "docs", "adding-an-endpoint.md"), "utf8")
const blocks = [...page.matchAll(/<!-- (src\/[\w/.]+) -->\n+```tsx?\n([\s\S]*?)```/g)]

const withoutIndent = (text: string): string => text.trim().replaceAll(/^\s+/gm, "")

// Goal: the page quotes existing code. Method: find each block in the file it names, at any indentation.
describe("docs/adding-an-endpoint.md", () => {
  it("has a code block for every kind of file that an endpoint touches, except the tests", () => {
    assert.lengthOf(blocks, 5)
  })
  for (const [, file = "", shown = ""] of blocks) {
    it(`shows the current text of ${file}`, () => {
      assert.include(withoutIndent(Fs.readFileSync(Path.join(root, file), "utf8")), withoutIndent(shown))
    })
  }
  it("names only existing files and folders", () => {
    const named = [...page.matchAll(/`((?:src|test)\/[\w/.]+)`/g)].map(([, path = ""]) => path)
    assert.isNotEmpty(named)
    for (const path of named) assert.isTrue(Fs.existsSync(Path.join(root, path)), path)
  })
})
