import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"

// Goal: links between documents lead somewhere. Method: each relative link of each document, against the files, and its anchor against the
// headings of the document it leads to.

const root = Path.join(import.meta.dirname, "..")
const documents = Fs.globSync(["*.md", "docs/**/*.md", "scripts/package/*/README.md"], { cwd: root })

const withoutCode = (file: string): string =>
  Fs.readFileSync(Path.join(root, file), "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "")

/** Anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading.toLowerCase().replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(
    " ",
    "-"
  )

/** Anchors of a document; a heading that comes again has a number behind it. */
const anchorsOf = (file: string): ReadonlySet<string> => {
  const seen = new Map<string, number>()
  return new Set(
    [...withoutCode(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => {
      const anchor = anchorOf(heading)
      const count = seen.get(anchor) ?? 0
      seen.set(anchor, count + 1)
      return count === 0 ? anchor : `${anchor}-${count}`
    })
  )
}

describe("links of the documents", () => {
  it.each(documents)("in %s lead to existing files and headings", (file) => {
    const broken = [...withoutCode(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link).filter((link) => {
      if (/^[a-z]+:/.test(link)) return false
      const [path = "", anchor] = link.split("#")
      const target = path === "" ? file : Path.join(Path.dirname(file), path)
      if (!Fs.existsSync(Path.join(root, target))) return true
      return anchor !== undefined && target.endsWith(".md") && !anchorsOf(target).has(anchor)
    })
    assert.deepStrictEqual(broken, [])
  })
})
