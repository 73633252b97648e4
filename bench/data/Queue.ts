/** A queue of thousands of withdrawals, and what a person does with it in a browser. */
import type { Page } from "playwright-core"

/** Withdrawals in the queue, every other of them by card. */
export const queued = 5000

/** Methods of the withdrawals that are filtered for, and of the others: the queue may hold some of another make. */
const [taken, left] = ["queue-card", "queue-bank"]

/** Withdrawals that are approved at once. */
const several = 200

/** Puts the withdrawals into the queue of an operator, as rows without entries; those of an earlier run wait again. Amounts rise by a cent. */
export const queueSql = (operatorId: number, playerIds: ReadonlyArray<number>): string =>
  `INSERT INTO payment_requests (id, operator_id, player_id, type, status, amount, currency, payment_method, created_at, updated_at)
    SELECT 9000000000 + n, ${operatorId}, (ARRAY[${
    playerIds.join(",")
  }]::bigint[])[1 + n % ${playerIds.length}], 'withdrawal', 'new',
      100 + n, 'EUR', CASE WHEN n % 2 = 0 THEN '${taken}' ELSE '${left}' END, date_trunc('milliseconds', now()), now()
    FROM generate_series(1, ${queued}) n
    ON CONFLICT (id) DO UPDATE SET status = 'new', first_approved_by = NULL, payment_method = EXCLUDED.payment_method`

const tableOf = (page: Page) => page.getByRole("table", { name: "Payments" })

const rowAt = (page: Page, number: number) => tableOf(page).locator(`tr[aria-rowindex="${number + 1}"]`)

/** The steps of a person, in their order. */
export const queueSteps = {
  shown: async (page: Page): Promise<void> => {
    await rowAt(page, 1).waitFor()
    await page.waitForLoadState("networkidle")
  },
  /** Those by card alone. */
  filter: async (page: Page): Promise<void> => {
    await page.getByRole("button", { name: "Add filter" }).click()
    await page.getByRole("dialog", { name: "Add filter" }).getByLabel("Method").fill(taken)
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: `Remove filter Method: ${taken}` }).waitFor()
    await tableOf(page).getByText(left).first().waitFor({ state: "detached" })
    await page.waitForLoadState("networkidle")
  },
  /** The first by its key, and all up to the last of several by the same with shift. */
  mark: async (page: Page): Promise<void> => {
    await rowAt(page, 1).getByRole("checkbox").focus()
    await page.keyboard.press("x")
    await page.getByText(/^1 selected/u).waitFor()
    while (!await rowAt(page, several).isVisible()) {
      await page.evaluate("window.scrollBy(0, 1500)")
      await page.waitForTimeout(50)
    }
    await rowAt(page, several).getByRole("checkbox").focus()
    await page.keyboard.press("Shift+X")
    await page.getByText(new RegExp(`^${several} selected`, "u")).waitFor()
    await page.waitForLoadState("networkidle")
  },
  approve: async (page: Page): Promise<void> => {
    const name = new RegExp(`^Approve ${several}`, "u")
    await page.getByRole("button", { name }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("button", { name }).click()
    await dialog.getByText(`${several} approved.`).waitFor({ timeout: 60_000 })
    await dialog.getByRole("button", { name: "Close" }).last().click()
    await dialog.waitFor({ state: "hidden" })
    await page.waitForLoadState("networkidle")
  }
} as const
