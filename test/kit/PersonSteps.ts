/** What a person does on a page to get a job done: clicks, keys and the pages that come and go, counted. */
import type { Locator, Page } from "playwright-core"

export const personOn = (page: Page) => {
  let clicks = 0
  let changes = 0
  let path = new URL(page.url()).pathname
  page.on("framenavigated", (frame) => {
    const next = new URL(frame.url()).pathname
    if (frame === page.mainFrame() && next !== path) {
      changes += 1
      path = next
    }
  })
  return {
    click: async (place: Locator): Promise<void> => {
      clicks += 1
      await place.click()
    },
    /** A key, or a combination, counts as a click. */
    press: async (key: string): Promise<void> => {
      clicks += 1
      await page.keyboard.press(key)
    },
    counted: () => ({ clicks, changes })
  }
}
