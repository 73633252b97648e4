/** The ledger and the audit log. */
import { Effect, FileSystem, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ExportCheck } from "../../chain/ExportLines.ts"
import { refuse } from "../../domain/Refusal.ts"
import { entryTypes, walletKinds } from "../../domain/state/Change.ts"
import { about, given, integer, text } from "../../platform/CliFlags.ts"
import { table } from "../../platform/Table.ts"
import { CommandOutput, connect, cursorFlags, noun, operatorFlag, partFlags, root, verb } from "../Verb.ts"

const { optional } = Flag

const exportLedger = Command.make("export", { operator: optional(operatorFlag) }, (input) =>
  Effect.gen(function*() {
    const { token } = yield* root
    const { out } = yield* CommandOutput
    const client = yield* connect(token)
    const lines = yield* client.ledger.export({ query: given(input) })
    yield* Stream.runForEach(Stream.decodeText(lines), (text) => Effect.sync(() => out(text)))
  })).pipe(Command.withDescription("Print entries and audit lines with their chain of hashes, as lines of JSON"))

const unreadableFile = refuse("INVALID_REQUEST", "The file cannot be read.")

const checkExport = Command.make("check-export", {
  file: Argument.String("file").pipe(Argument.withDescription("What `ledger export` printed")),
  hash: text("hash", "A hash that `ledger sealed` of the log says").pipe(
    Flag.filter((hash) => /^[0-9a-f]{64}$/i.test(hash), () => "Expected the 64 digits of a hash")
  )
}, ({ file, hash }) =>
  Effect.gen(function*() {
    const { json } = yield* root
    const { end, isTerminal, out } = yield* CommandOutput
    const check = new ExportCheck(hash)
    yield* (yield* FileSystem.FileSystem).stream(file).pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.runForEach((line) => Effect.sync(() => check.take(line))),
      Effect.mapError(() => unreadableFile)
    )
    const report = check.report()
    out((isTerminal && !json ? table(report) : JSON.stringify(report, null, 2)) + "\n")
    if (report.violations.length > 0) end(1)
  })).pipe(
    Command.withDescription(
      "Verify an export against a published hash, without the service; exit 1 when it does not hold"
    )
  )

export const ledger = noun("ledger", "The ledger").pipe(Command.withSubcommands([
  verb(
    "verify",
    "Prove the ledger; exit 1 when a law does not hold",
    { operator: optional(operatorFlag) },
    (client, input) => client.ledger.verify({ query: given(input) }),
    ({ violations }) => violations.length === 0,
    "Proving the ledger"
  ),
  verb("entries", "Entries over players, newest first", {
    operator: optional(operatorFlag),
    player: optional(integer("player", "Only those of this player")),
    wallet: optional(about(Flag.Literals("wallet", walletKinds), "Only those of this wallet")),
    type: optional(about(Flag.Literals("type", entryTypes), "Only those of this type")),
    transaction: optional(text("transaction", "Those of this message: the provider's id of it, or the id of an entry")),
    provider: optional(text("provider", "Only those of this provider, id or slug")),
    round: optional(text("round", "Only those of this round: the provider's id of it")),
    currency: optional(
      text("currency", "Filter by currency; required with --min-amount and --max-amount, unless --player is given")
    ),
    min_amount: optional(integer("min-amount", "Only those that moved at least so much, minor units")),
    max_amount: optional(integer("max-amount", "Only those that moved at most so much, minor units")),
    from: optional(text("from", "At or after, like 2026-11-20T12:00:00Z")),
    to: optional(text("to", "At or before")),
    ...cursorFlags
  }, (client, input) => client.ledger.entries({ query: given(input) })),
  verb("accept-restore", "Accept a restored backup in place of the end that was remembered; takes two people", {
    reason: text("reason", "Why commits are gone, and which backup it is")
  }, (client, payload) => client.ledger.accept_restore({ payload })),
  exportLedger,
  checkExport
]))

export const audit = noun("audit", "Who did what").pipe(Command.withSubcommands([
  verb("list", "Newest first", {
    operator: optional(operatorFlag),
    player: optional(integer("player", "Id of a player")),
    staff: optional(text("staff", "Id of the account that acted, or bootstrap")),
    action: optional(text("action", "What was done, like key.rotate")),
    from: optional(text("from", "At or after, like 2026-11-20T12:00:00Z")),
    to: optional(text("to", "At or before")),
    ...partFlags
  }, (client, input) => client.audit.list({ query: given(input) }))
]))

export const job = noun("job", "Work that the service does by itself").pipe(Command.withSubcommands([
  verb("list", "What runs when, and how the last run went", {}, (client) => client.job.list())
]))
