/** Common steps of page tests: choose, take an action, and read a value shown once. */
import type { Locator, Page } from "playwright-core"

/** Where an action is: a button of its own there, or an item of a row's menu. */
type Place = Page | Locator | { readonly menuOf: Locator }

/** Opens the dialog of an action. */
export const press = async (page: Page, action: string, place: Place): Promise<void> => {
  if (!("menuOf" in place)) return place.getByRole("button", { name: action, exact: true }).first().click()
  await place.menuOf.getByRole("button", { name: /^Actions of / }).click()
  await page.getByRole("menuitem", { name: action, exact: true }).click()
}

/** As {@link press}; fills the dialog's fields by label, and confirms. Returns the dialog. */
export const act = async (
  page: Page,
  action: string,
  fields: Readonly<Record<string, string>> = {},
  place: Place = page
): Promise<Locator> => {
  await press(page, action, place)
  const dialog = page.getByRole("dialog", { name: action, exact: true })
  for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value)
  await dialog.getByRole("button", { name: action, exact: true }).click()
  return dialog
}

/** Chooses from a list of options. `within`: where its field is. */
export const choose = async (page: Page, label: string, option: string | RegExp, within: Page | Locator = page) => {
  await within.getByRole("combobox", { name: label }).click()
  await page.getByRole("option", { name: option }).click()
}

/** Closes a dialog that shows a value once, without a copy of it: it asks before. */
export const closeUncopied = async (dialog: Locator): Promise<void> => {
  await dialog.getByRole("button", { name: "Close", exact: true }).click()
  await dialog.getByRole("button", { name: "Close without a copy" }).click()
  await dialog.waitFor({ state: "hidden" })
}

/** Value shown once by a dialog: a secret, a token, a link. Closes the dialog. */
export const shownOnce = async (dialog: Locator): Promise<string> => {
  await dialog.getByText("shown now and never again").waitFor()
  const text = await dialog.locator("pre").textContent()
  await closeUncopied(dialog)
  return text ?? ""
}

/** As {@link act}, and waits until it is done. */
export const done = async (...args: Parameters<typeof act>): Promise<void> => {
  await (await act(...args)).waitFor({ state: "hidden" })
}

/** Waits for a notification: its words may stand on the page too, in the reason of a note. */
export const notified = (page: Page, message: string): Promise<void> =>
  page.getByRole("alert").filter({ hasText: message }).waitFor()
