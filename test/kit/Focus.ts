/** Keyboard checks: focus order of a page, and whether a dialog takes, traps and returns the focus. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { atRest } from "./Browser.ts"

const source = readFileSync(join(import.meta.dirname, "focusWalk.mjs"), "utf8")

/** Steps beyond which a page is no longer walked: the focus is caught somewhere. */
const mostSteps = 2000

/** Presses between two waits for what they scroll into view to be drawn: fewer than the rows that a long table draws ahead of the focus. */
const atATime = 10

const textOf = (page: Page): Promise<string> => page.evaluate("document.activeElement?.textContent ?? ''")

/** Tabs that arrow keys do not reach from the chosen one. */
const tabsNotReached = async (page: Page): Promise<ReadonlyArray<string>> => {
  const names = await page.getByRole("tab").allTextContents()
  if (names.length === 0) return []
  await page.getByRole("tab", { selected: true }).focus()
  const reached = new Set<string>()
  for (const _ of names) {
    await page.keyboard.press("ArrowRight")
    reached.add(await textOf(page))
  }
  return names.filter((name) => !reached.has(name)).map((name) => `tab "${name}" is not reached by arrow keys`)
}

/**
 * Tabs through a page from its top until the focus wraps, and returns the faults: elements not reached, without a visible
 * focus or focused out of view, and a focus that does not wrap.
 */
export const focusFaults = (page: Page): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async () => {
    await atRest(page)
    await page.evaluate(source)
    for (let step = 0; step < mostSteps; step += atATime) {
      for (let press = 0; press < atATime; press++) await page.keyboard.press("Tab")
      await atRest(page)
      if (await page.evaluate("focusWalk.isAround()") === true) break
    }
    const faults: unknown = await page.evaluate("focusWalk.faults()")
    return [...Array.isArray(faults) ? faults.map(String) : ["nothing was looked at"], ...await tabsNotReached(page)]
  })

/** Opens the dialog of a button by keyboard: it must take the focus, keep it from Tab, and give it back to the button on Escape. */
export const assertHoldsFocus = async (page: Page, button: string): Promise<void> => {
  const opener = page.getByRole("button", { name: button, exact: true }).first()
  await opener.focus()
  await page.keyboard.press("Enter")
  const dialog = page.getByRole("dialog")
  await dialog.waitFor()
  const within = dialog.locator(":focus")
  await within.waitFor({ state: "attached" })
  const stops = await dialog.locator("input, button, textarea, a[href]").count()
  for (const key of ["Tab", "Shift+Tab"]) {
    for (let press = 0; press < stops + 2; press++) {
      await page.keyboard.press(key)
      assert.strictEqual(await within.count(), 1, `${button}: the focus has left the dialog`)
    }
  }
  await page.keyboard.press("Escape")
  await dialog.waitFor({ state: "hidden" })
  await opener.and(page.locator(":focus")).waitFor()
}
