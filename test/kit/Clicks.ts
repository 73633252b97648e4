/** Effort of a job: clicks, shortcuts and changes of the page that a person makes. Typing is none. */
import type { Page } from "playwright-core"

export interface Effort {
  /** Clicks, Enter and shortcuts since the beginning. */
  readonly clicks: () => Promise<number>
  /** How often another page was shown. */
  readonly pageChanges: () => number
}

/** Counts from now on, on the page that is shown. */
export const countEffort = async (page: Page): Promise<Effort> => {
  await page.evaluate(`(() => {
    window.clicksCounted = 0
    addEventListener("pointerdown", () => void window.clicksCounted++, true)
    addEventListener("keydown", ({ ctrlKey, key, metaKey }) => {
      if (key === "Enter" || ((ctrlKey || metaKey) && key.length === 1)) window.clicksCounted++
    }, true)
  })()`)
  let shown = new URL(page.url()).pathname
  let changes = 0
  page.on("framenavigated", (frame) => {
    const { pathname } = new URL(frame.url())
    if (frame !== page.mainFrame() || pathname === shown) return
    shown = pathname
    changes++
  })
  return {
    clicks: async () => Number(await page.evaluate("window.clicksCounted")),
    pageChanges: () => changes
  }
}
