/** Layout of a page at the sizes of the windows that staff have: nothing is wider than the window, cut, or too small to be hit. */
import type { Page } from "playwright-core"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Scheme } from "./Browser.ts"

const source = readFileSync(join(import.meta.dirname, "layout.mjs"), "utf8")

export interface WindowSize {
  readonly name: string
  readonly width: number
  readonly height: number
  /** Device pixels of a CSS pixel: 2 is a zoom of 200 %. */
  readonly scale: number
}

/** A desktop's window last: what is opened next is opened there. */
export const windowSizes: ReadonlyArray<WindowSize> = [
  { name: "390 px", width: 390, height: 844, scale: 1 },
  { name: "200 % of 1440 px", width: 720, height: 450, scale: 2 },
  { name: "768 px", width: 768, height: 1024, scale: 1 },
  { name: "1024 px", width: 1024, height: 768, scale: 1 },
  { name: "1440 px", width: 1440, height: 900, scale: 1 }
]

/** Waits until an expression of the page is true; false when it never is. The page's policy forbids the browser's own way. */
export const becomes = async (page: Page, expression: string, polling = 20, limit = 60_000): Promise<boolean> => {
  for (let waited = 0; waited <= limit; waited += polling) {
    if (await page.evaluate(expression) === true) return true
    await page.waitForTimeout(polling)
  }
  return false
}

/** Has the page drawn in a scheme, as when the system's is changed. The page stays as it is. */
export const turnTo = async (page: Page, scheme: Scheme): Promise<void> => {
  await page.emulateMedia({ colorScheme: scheme })
  if (!await becomes(page, `document.documentElement.dataset.mantineColorScheme === "${scheme}"`)) {
    throw new Error(`the page is not ${scheme}`)
  }
}

/** Gives the setter of a window's size. The page stays as it is. */
export const resizerOf = async (page: Page): Promise<(size: WindowSize) => Promise<void>> => {
  const session = await page.context().newCDPSession(page)
  return async ({ height, scale, width }) => {
    await page.setViewportSize({ width, height })
    await session.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: scale, mobile: false })
    if (!await becomes(page, `innerWidth === ${width}`)) {
      throw new Error(`the window is ${String(await page.evaluate("innerWidth"))} px wide, not ${width}`)
    }
  }
}

/** A button that may open something: marked in the page by `data-opener`. */
export interface Opener {
  readonly index: number
  readonly name: string
  readonly isMenu: boolean
}

const inPage = async (page: Page, call: string): Promise<unknown> => {
  await page.evaluate(`globalThis.layout ?? (() => { ${source} })()`)
  return page.evaluate(`layout.${call}`)
}

/** Ends the transitions of a page that was loaded, so that no look waits for one: those of a resized window take longer than the look. */
export const keepStill = async (page: Page): Promise<void> => {
  await inPage(page, "still()")
}

/**
 * Whether no dialog or menu that is the same as the open one, down to its colours and to where in it each part is, was asked about for these rules or for
 * all of them: one of a fixed width is the same in most windows.
 */
export const isNew = async (page: Page, rules: "all" | "colours"): Promise<boolean> =>
  await inPage(page, `isNew("${rules}")`) === true

/** Faults of the layout, in words. */
export const layoutFaults = async (page: Page): Promise<ReadonlyArray<string>> => {
  const faults = await inPage(page, "faults()")
  return Array.isArray(faults) ? faults.map(String) : ["nothing was looked at"]
}

const isOpener = (item: unknown): item is Opener => typeof item === "object" && item !== null && "isMenu" in item

/** Buttons below `root` that may open something, one of each name; menus of rows are all different. */
export const openersIn = async (page: Page, root: string): Promise<ReadonlyArray<Opener>> => {
  const found = await inPage(page, `openers(${JSON.stringify(root)})`)
  return Array.isArray(found) ? found.filter(isOpener) : []
}
