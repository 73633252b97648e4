import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { runCommands } from "../kit/Backoffice.ts"
import { fresh, House, layerCasinos } from "../kit/Casino.ts"

// Goal: each command of the contract's command line (CONTRACT 3) that the service refuses says so as promised: nothing on standard
// output, the envelope on standard error, exit 1. What each prints when it works is in backofficeCli.test.ts, payments.test.ts and
// bonuses.test.ts. Method: every command with one thing wrong that the service has to find out, in one
// process for all of them.

/** An id that nothing has. */
const nobody = "999999999"

/** What is wrong with each command, and the code for it. `$house` is an operator, `$studio` a provider, `$player` a player. */
const rows: ReadonlyArray<readonly [command: string, code: string]> = [
  ["staff create --name Eve --role support --token nobodys", "INVALID_API_KEY"],
  ["operator create --slug $house --name Taken --currency EUR", "VALIDATION_FAILED"],
  ["operator update nobody --cooling-off-hours 5", "NOT_FOUND"],
  ["key create --operator nobody", "NOT_FOUND"],
  ["key create --operator $house --ip 300.0.0.1", "VALIDATION_FAILED"],
  ["key rotate nobody", "NOT_FOUND"],
  ["key revoke nobody", "NOT_FOUND"],
  ["key list --operator nobody", "NOT_FOUND"],
  ["provider create --slug $studio --name Taken", "VALIDATION_FAILED"],
  ["provider update nobody --active false", "NOT_FOUND"],
  ["game create --provider nobody --external-id x --name X", "NOT_FOUND"],
  ["game create --provider $studio --external-id slots --name Taken", "VALIDATION_FAILED"],
  ["game create --provider $studio --external-id own --name Own --original chess", "VALIDATION_FAILED"],
  [`game update ${nobody} --active false`, "NOT_FOUND"],
  ["payment-method create --operator $house --code bank", "VALIDATION_FAILED"],
  ["payment-method create --operator $house --code low --min-deposit 9 --max-deposit 8", "VALIDATION_FAILED"],
  ["bonus create --operator nobody --name X --type cash --default-amount 5", "NOT_FOUND"],
  [`bonus cancel ${nobody} --reason gone`, "NOT_FOUND"],
  [`promo create --operator $house --code X --bonus ${nobody}`, "VALIDATION_FAILED"],
  [`player show ${nobody}`, "NOT_FOUND"],
  ["player list --operator nobody", "NOT_FOUND"],
  ["player kyc $player --status verified", "VALIDATION_FAILED"],
  [`player restrict ${nobody} --can-bet false`, "NOT_FOUND"],
  ["player correct $player --amount 0 --reason nothing", "VALIDATION_FAILED"],
  [`payment approve ${nobody}`, "NOT_FOUND"],
  [`payment pay ${nobody}`, "NOT_FOUND"],
  ["payment reject $deposit --reason none", "PAYMENT_REQUEST_INVALID"],
  ["payment cancel $deposit", "PAYMENT_REQUEST_INVALID"],
  [`payment chargeback ${nobody}`, "NOT_FOUND"],
  ["webhook create --operator nobody --url https://hooks.example/in", "NOT_FOUND"],
  ["webhook create --operator $house --url ftp://hooks.example/in", "VALIDATION_FAILED"],
  [`webhook rotate ${nobody}`, "NOT_FOUND"],
  [`webhook update ${nobody} --active false`, "NOT_FOUND"],
  [`webhook ping ${nobody}`, "NOT_FOUND"],
  ["webhook list --operator nobody", "NOT_FOUND"],
  [`delivery retry ${nobody}`, "NOT_FOUND"],
  ["report ggr --operator nobody --from 2026-11-01 --to 2026-11-20", "NOT_FOUND"],
  ["report ggr --operator $house --from 2026-11-21 --to 2026-11-20", "VALIDATION_FAILED"],
  ["rate set --currency XXX --base EUR --rate 1.5", "VALIDATION_FAILED"],
  ["audit list --operator nobody", "NOT_FOUND"],
  ["ledger verify --operator nobody", "NOT_FOUND"]
]

layer(layerCasinos, { excludeTestServices: true })("CONTRACT 3 refusals of the command line", (it) => {
  it.effect("CONTRACT 3 each command that is refused: exit 1, the envelope on standard error, nothing on standard output", () =>
    Effect.gen(function*() {
      const house = yield* House
      const { id } = yield* house.register()
      const { data: deposit } = yield* house.deposit(id, 100, { external_reference: fresh("cli") })
      const lines = rows.map(([row]) =>
        row.replaceAll("$house", house.slug).replaceAll("$studio", house.studio.slug)
          .replaceAll("$player", String(id)).replaceAll("$deposit", String(deposit.id)).split(" ")
      )
      const outcomes = yield* runCommands(lines)
      const wrong = rows.flatMap(([row, code], index) => {
        const { exitCode = null, stderr = "", stdout = "" } = outcomes[index] ?? {}
        const { error } = stderr.startsWith("{") ? JSON.parse(stderr) : { error: undefined }
        const isEnvelope = error !== undefined && Object.keys(error).sort().join() === "code,details,message"
        return exitCode === 1 && stdout === "" && isEnvelope && error.code === code
          ? []
          : [`${row}: ${exitCode} ${stderr.slice(0, 200)} ${stdout.slice(0, 100)}`]
      })
      assert.deepStrictEqual(wrong, [])
    }))
})
