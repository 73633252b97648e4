/** What tests of pages do again and again: take an action, and look at a page in both colour schemes. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { Browser, picture, type Scheme, violationsOn } from "./Browser.ts"

/** Opens the dialog of an action, fills what it asks for by label, and confirms. Gives the dialog. `within`: where its button is. */
export const act = async (
  page: Page,
  action: string,
  fields: Readonly<Record<string, string>> = {},
  within: Page | Locator = page
): Promise<Locator> => {
  await within.getByRole("button", { name: action, exact: true }).first().click()
  const dialog = page.getByRole("dialog", { name: action, exact: true })
  for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value)
  await dialog.getByRole("button", { name: action, exact: true }).click()
  return dialog
}

/** As {@link act}, and waits until it is done. */
export const done = async (...args: Parameters<typeof act>): Promise<void> => {
  await (await act(...args)).waitFor({ state: "hidden" })
}

/** A page in light and dark as axe-core and its own console see it; its picture is the light one. `ready`: waits until it is drawn. */
export const looksRight = Effect.fnUntraced(
  function*(cookie: string, path: string, ready: (page: Page) => Promise<unknown>, name: string) {
    const browser = yield* Browser
    for (const scheme of ["light", "dark"] satisfies ReadonlyArray<Scheme>) {
      const page = yield* browser.open({ cookie, scheme })
      yield* Effect.promise(async () => {
        await page.goto(path)
        await ready(page)
      })
      assert.deepStrictEqual(yield* violationsOn(page), [], `${path} ${scheme}`)
      if (scheme === "light") yield* picture(page, name)
    }
    assert.deepStrictEqual(browser.problems(), [])
  }
)
