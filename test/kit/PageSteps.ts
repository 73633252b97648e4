/** What tests of pages do again and again: choose, take an action, and read what it shows once. */
import type { Locator, Page } from "playwright-core"

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

/** Chooses from a list of options. `within`: where its field is. */
export const choose = async (page: Page, label: string, option: string | RegExp, within: Page | Locator = page) => {
  await within.getByRole("combobox", { name: label }).click()
  await page.getByRole("option", { name: option }).click()
}

/** What a dialog shows once: a secret, a token, a link. Closes it. */
export const shownOnce = async (dialog: Locator): Promise<string> => {
  await dialog.getByText("shown now and never again").waitFor()
  const text = await dialog.locator("pre").textContent()
  await dialog.getByRole("button", { name: "Close" }).last().click()
  await dialog.waitFor({ state: "hidden" })
  return text ?? ""
}

/** As {@link act}, and waits until it is done. */
export const done = async (...args: Parameters<typeof act>): Promise<void> => {
  await (await act(...args)).waitFor({ state: "hidden" })
}
