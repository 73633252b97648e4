/**
 * Renders a player's account statement as JSON for the API, as CSV, raw or formatted for spreadsheets, and as a printable page. Each is streamed in
 * parts, since a statement may have a hundred thousand entries.
 */
import { Stream } from "effect"
import type { Entry, EntryType } from "../../domain/state/Change.ts"
import { minorDigits } from "../../domain/Standards.ts"
import { numberTexts } from "../../domain/TypedNumber.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import type { Statement } from "../../features/statements/Statements.ts"
import { entryFields } from "../../features/wallet/Entries.ts"
import { type ExportColumn, type ExportForm, disarmed, quoted, spreadsheetForm } from "../../http/CsvForms.ts"
import { iso } from "../../platform/Time.ts"

type Texts = Stream.Stream<string, Refusal<"TRY_AGAIN">>

/** A document of a beginning, a text for each part of the entries, and an end. */
const documentOf = ({ entries }: Statement, head: string, part: (entries: ReadonlyArray<Entry>) => string, end = "") =>
  Stream.make(head).pipe(Stream.concat(Stream.map(entries, part)), Stream.concat(Stream.make(end))) satisfies Texts

export const jsonDocument = (statement: Statement): Texts => {
  let separator = ""
  return documentOf(
    statement,
    `{"data":${JSON.stringify(statement.head).slice(0, -1)},"entries":[`,
    (entries) => {
      if (entries.length === 0) return ""
      const text = separator + entries.map((entry) => JSON.stringify(entryFields(entry))).join(",")
      separator = ","
      return text
    },
    "]}}"
  )
}

const columns: ReadonlyArray<ExportColumn> = [
  { name: "id", kind: "number" },
  { name: "created_at", kind: "instant" },
  { name: "wallet", kind: "text" },
  { name: "type", kind: "text" },
  { name: "amount", kind: "amount" },
  { name: "balance_after", kind: "amount" },
  { name: "currency", kind: "text" },
  { name: "game_id", kind: "number" },
  { name: "game_round_id", kind: "text" },
  { name: "payment_request_id", kind: "number" }
]

/** Lines of RFC 4180. No text is exempt from what keeps spreadsheets from reading formulas: a round may be named like a phone number. */
const lines: Pick<ExportForm, "mark" | "header" | "line"> = {
  mark: "",
  header: () => `${columns.map(({ name }) => name).join(",")}\r\n`,
  line: (_, row) =>
    `${
      columns.map(({ name }) => {
        const value = row[name]
        return typeof value === "string"
          ? quoted(disarmed(value))
          : typeof value === "number"
          ? String(value)
          : ""
      }).join(",")
    }\r\n`
}

const listed = (statement: Statement, form: Pick<ExportForm, "mark" | "header" | "line">): Texts =>
  documentOf(
    statement,
    form.mark + form.header(columns),
    (entries) => entries.map((entry) => form.line(columns, entryFields(entry))).join("")
  )

export const csvDocument = (statement: Statement): Texts => listed(statement, lines)

/** In the separators of a language. */
export const spreadsheetDocument = (statement: Statement, language: string): Texts =>
  listed(statement, spreadsheetForm(language))

const escapes: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&#39;"
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? "")

const typeWords: { readonly [type in EntryType]: string } = {
  deposit: "Deposit",
  withdrawal: "Withdrawal",
  withdrawal_rejection: "Withdrawal returned",
  correction_up: "Correction",
  correction_down: "Correction",
  bonus_correction_up: "Bonus",
  bonus_correction_down: "Bonus taken away",
  bonus_conversion: "Bonus converted",
  casino_bet: "Bet",
  casino_win: "Win",
  casino_rollback: "Taken back",
  loyalty_exchange: "Loyalty exchange",
  tournament_prize: "Tournament prize",
  chargeback: "Chargeback"
}

const style =
  `body{font:14px/1.4 system-ui,sans-serif;color:#111;background:#fff;margin:2rem auto;max-width:60rem;padding:0 1rem}
h1{font-size:1.4rem;margin:0}h2{font-size:1.05rem;margin:1.6rem 0 .4rem}p{margin:.2rem 0;color:#444}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid #ddd;vertical-align:top}
th{font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.r{overflow-wrap:anywhere}thead{display:table-header-group}
tr{break-inside:avoid}.f{width:auto;min-width:22rem}@media print{body{margin:0;max-width:none}}`

/** Time of play in hours and minutes. */
const durationText = (seconds: number): string => `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`

/** One page without a script or a reference, for printing. Its policy is {@link pagePolicy}. */
export const pageDocument = (statement: Statement): Texts => {
  const { head, names } = statement
  const { closing, currency, opening, sessions, totals } = head
  const amount = numberTexts("en", minorDigits(currency))
  const row = (label: string, ...values: ReadonlyArray<string>) =>
    `<tr><th scope="row">${label}</th>${values.map((value) => `<td class="n">${escaped(value)}</td>`).join("")}</tr>`
  const figures: ReadonlyArray<readonly [string, number]> = [
    ["Deposits", totals.deposits],
    ["Withdrawals", totals.withdrawals],
    ["Staked", totals.staked],
    ["Won", totals.won],
    ["Won less staked", totals.net],
    ["Bonuses", totals.bonuses],
    ["Corrections", totals.corrections],
    ["Deposits less withdrawals since the account was opened", head.net_deposits_lifetime]
  ]
  const beginning = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Statement ${head.from} to ${head.to}</title><style>${style}</style></head><body>
<h1>Statement</h1>
<p>${escaped(names.operator)}</p>
<p>${escaped(names.player)}, player ${head.player_id}</p>
<p>${head.from} to ${head.to}, both included. Amounts in ${escaped(currency)}, times in UTC. Made at ${
    head.generated_at.slice(0, 16).replace("T", " ")
  }.</p>
<h2>Balances</h2>
<table class="f"><thead><tr><td></td><th class="n" scope="col">Real</th><th class="n" scope="col">Bonus</th></tr></thead><tbody>
${row("Opening", amount(opening.real), amount(opening.bonus))}
${row("Closing", amount(closing.real), amount(closing.bonus))}
</tbody></table>
<h2>Totals</h2>
<table class="f"><tbody>
${figures.map(([label, value]) => row(label, amount(value))).join("\n")}
${row("Sessions of play", String(sessions.count))}
${row("Time of play", durationText(sessions.seconds))}
</tbody></table>
<h2>Entries</h2>
<table><thead><tr><th scope="col">Time</th><th scope="col">Entry</th><th scope="col">Wallet</th><th class="n" scope="col">Amount</th>` +
    `<th class="n" scope="col">Balance</th><th scope="col">Reference</th></tr></thead><tbody>\n`
  const line = (entry: Entry) => {
    const reference = entry.paymentRequestId === null
      ? entry.gameRoundId === null ? "" : `round ${entry.gameRoundId}`
      : `payment ${entry.paymentRequestId}`
    return `<tr><td>${iso(entry.createdAt).slice(0, 19).replace("T", " ")}</td><td>${typeWords[entry.type]}</td>` +
      `<td>${entry.wallet}</td><td class="n">${amount(entry.amount)}</td><td class="n">${
        amount(entry.balanceAfter)
      }</td>` +
      `<td class="r">${escaped(reference)}</td></tr>\n`
  }
  return documentOf(
    statement,
    beginning,
    (entries) => entries.map(line).join(""),
    "</tbody></table>\n</body></html>\n"
  )
}

/** Nothing is loaded, run or sent. */
export const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'"
