/**
 * The back-office command line: staff's nouns and verbs on a terminal and in scripts, over the staff API of the running service.
 *
 * One JSON document on standard output, or a table on a terminal. Exit 0; 1 for a refusal, whose envelope goes to standard error;
 * 2 for wrong usage, with the usage on standard error.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Option, Redacted, Schema } from "effect"
import { Argument, CliConfig, type CliError, CliOutput, Command, Flag, GlobalFlag } from "effect/cli"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { BackofficeApi, roles } from "./api/BackofficeApi.ts"
import { paymentStatuses, paymentTypes } from "./api/Payment.ts"
import { kycStatuses, playerStatuses } from "./api/Player.ts"
import { walletKinds } from "./api/Wallet.ts"
import { bonusTypes } from "./domain/Bonus.ts"
import { type Feature, features, type Scope, scopes } from "./domain/Operator.ts"
import type { PaymentMove } from "./domain/PaymentMoves.ts"
import { type Refusal, refuse, refuseFields } from "./domain/Refusal.ts"
import { fieldIssues } from "./http/FormErrors.ts"
import { about, amountOrNone, given, integer, listOf, orNone, text, truth, listFrom } from "./platform/CliFlags.ts"
import { commandLineSettings } from "./platform/Settings.ts"
import { isObject, table } from "./platform/Table.ts"

const { optional } = Flag

// ---------------------------------------------------------------------------------------------------------------------
// The service

const root = Command.make("backoffice").pipe(
  Command.withDescription("Steers a running service"),
  Command.withSharedFlags({
    json: about(Flag.Boolean("json"), "Print JSON on a terminal, too").pipe(Flag.withDefault(false)),
    token: about(optional(Flag.Redacted("token")), "Who acts; else BACKOFFICE_TOKEN, else the service's own")
  })
)

const unreadable = refuse("SERVER_ERROR", "The answer is not one of this service's. Does another version run there?")

const connect = Effect.fnUntraced(function*(flag: Option.Option<Redacted.Redacted>) {
  const { token: known, url } = yield* commandLineSettings
  const token = Redacted.value(Option.getOrElse(flag, () => known ?? Redacted.make("")))
  return yield* HttpApiClient.make(BackofficeApi, {
    baseUrl: url,
    transformClient: (client) =>
      token === "" ? client : HttpClient.mapRequest(client, HttpClientRequest.bearerToken(token)),
    transformResponse: Effect.mapError((error) => Schema.isSchemaError(error) ? unreadable : error)
  })
})

type Client = Effect.Success<ReturnType<typeof connect>>

type CallFailure = Refusal | Schema.SchemaError | HttpClientError.HttpClientError

/** A verb: its flags, and the call they make. What it answers is printed. */
const verb = <const Name extends string, const Config extends Command.Command.Config, A>(
  name: Name,
  description: string,
  config: Config,
  call: (
    client: Client,
    input: Command.Command.Config.Infer<Config>
  ) => Effect.Effect<{ readonly data: A }, CallFailure>,
  isGood: (data: A) => boolean = () => true
) =>
  Command.make(name, config, (input) =>
    Effect.gen(function*() {
      const { json, token } = yield* root
      const { data } = yield* call(yield* connect(token), input)
      yield* print(data, json)
      if (!isGood(data)) yield* finish(1)
    })).pipe(Command.withDescription(description))

const noun = <const Name extends string>(name: Name, description: string) =>
  Command.make(name).pipe(Command.withDescription(description))

const idOf = (what: string) =>
  Argument.Int("id").pipe(
    Argument.withDescription(`The id of the ${what}`),
    Argument.filter((id) => id > 0, () => "Expected an id")
  )

const referenceTo = (what: string, other: string) =>
  Argument.String("id").pipe(Argument.withDescription(`The id or ${other} of the ${what}`))

const pageFlags = {
  page: integer("page", "Which page (1)").pipe(Flag.withDefault(1)),
  per_page: integer("per-page", "Lines per page, 1 to 100 (25)").pipe(Flag.withDefault(25))
}

const operatorFlag = text("operator", "Id or slug of the operator")

// ---------------------------------------------------------------------------------------------------------------------
// Nouns and verbs

const staff = noun("staff", "Staff accounts").pipe(Command.withSubcommands([
  verb("create", "Open an account; prints its token once", {
    name: text("name", "Whose it is"),
    role: optional(about(Flag.Literals("role", roles), "What it may do (admin)"))
  }, (client, input) => client.staff.create({ payload: given(input) })),
  verb("update", "Change an account", {
    id: idOf("account"),
    name: optional(text("name", "Whose it is")),
    role: optional(about(Flag.Literals("role", roles), "What it may do")),
    active: optional(truth("active", "Whether its token opens anything"))
  }, (client, { id, ...input }) => client.staff.update({ params: { staff: id }, payload: given(input) })),
  verb("list", "All accounts", {}, (client) => client.staff.list())
]))

const operatorSettings = {
  cooperation_model: optional(
    about(Flag.Literals("cooperation-model", ["api", "turnkey"]), "Who keeps the front end (api)")
  ),
  active: optional(truth("active", "Whether its keys and players are served (true)")),
  cooling_off_hours: optional(integer("cooling-off-hours", "How long a raised limit waits (24)")),
  withdrawal_second_approval_above: optional(
    amountOrNone("withdrawal-second-approval-above", "Larger withdrawals need two approvals")
  ),
  kyc_withdrawal_threshold: optional(
    amountOrNone("kyc-withdrawal-threshold", "What an unverified player may withdraw in total")
  ),
  forfeit_bonus_on_withdrawal: optional(
    truth("forfeit-bonus-on-withdrawal", "Whether a withdrawal ends a running bonus (true)")
  ),
  disabled_features: optional(
    listFrom<Feature>("disable-features", features, "Features that are off for a turnkey operator")
  )
}

const operator = noun("operator", "Operators").pipe(Command.withSubcommands([
  verb("create", "Add an operator", {
    slug: text("slug", "Short name, unique"),
    name: text("name", "Full name"),
    currency: text("currency", "ISO 4217 code of reports and new players"),
    ...operatorSettings
  }, (client, input) => client.operator.create({ payload: given(input) })),
  verb("update", "Change an operator", {
    id: referenceTo("operator", "slug"),
    slug: optional(text("slug", "Short name, unique")),
    name: optional(text("name", "Full name")),
    currency: optional(text("currency", "ISO 4217 code")),
    ...operatorSettings
  }, (client, { id, ...input }) => client.operator.update({ params: { operator: id }, payload: given(input) })),
  verb("list", "All operators", {}, (client) => client.operator.list())
]))

const key = noun("key", "API keys of operators").pipe(Command.withSubcommands([
  verb("create", "Make a key; prints its secret once", {
    operator: operatorFlag,
    name: optional(text("name", "What it is for")),
    scopes: optional(listFrom<Scope>("scopes", scopes, "What it may do (all)")),
    ip_allowlist: optional(listOf("ip", "Addresses and ranges it works from (any)")),
    rate_limit_per_minute: optional(integer("rate-limit", "Requests per minute (600)")),
    expires_at: optional(orNone(text("expires-at", "When it ends, like 2026-11-20T12:00:00Z (never)")))
  }, (client, input) => client.key.create({ payload: given(input) })),
  verb("rotate", "Give a key a new secret; prints it once", {
    id: referenceTo("key", "public key id")
  }, (client, { id }) => client.key.rotate({ params: { key: id } })),
  verb("revoke", "End a key for good", {
    id: referenceTo("key", "public key id")
  }, (client, { id }) => client.key.revoke({ params: { key: id } })),
  verb("list", "Keys, newest first", {
    operator: optional(operatorFlag)
  }, (client, input) => client.key.list({ query: given(input) }))
]))

const providerSettings = {
  launch_url: optional(orNone(text("launch-url", "Where games open, with {token}, {game} and {mode}"))),
  demo_url: optional(orNone(text("demo-url", "Where free play opens"))),
  ip_allowlist: optional(listOf("ip", "Addresses and ranges it calls from (any)")),
  active: optional(truth("active", "Whether its calls are served and its games offered (true)"))
}

const provider = noun("provider", "Game providers").pipe(Command.withSubcommands([
  verb("create", "Add a provider; prints its secret once", {
    slug: text("slug", "Short name, unique"),
    name: text("name", "Full name"),
    ...providerSettings
  }, (client, input) => client.provider.create({ payload: given(input) })),
  verb("update", "Change a provider", {
    id: referenceTo("provider", "slug"),
    slug: optional(text("slug", "Short name, unique")),
    name: optional(text("name", "Full name")),
    ...providerSettings
  }, (client, { id, ...input }) => client.provider.update({ params: { provider: id }, payload: given(input) })),
  verb("rotate", "Give a provider a new secret; prints it once", {
    id: referenceTo("provider", "slug")
  }, (client, { id }) => client.provider.rotate({ params: { provider: id } })),
  verb("list", "All providers", {}, (client) => client.provider.list())
]))

const gameSettings = {
  type: optional(about(Flag.Literals("type", ["rng", "live"]), "How outcomes come about (rng)")),
  category: optional(text("category", "Where it is listed (slots, live)")),
  rtp: optional(about(Flag.Finite("rtp"), "Return to player in percent")),
  thumbnail_url: optional(orNone(text("thumbnail-url", "Its picture"))),
  original: optional(orNone(text("original", "The built-in game behind it"))),
  active: optional(truth("active", "Whether it is offered (true)"))
}

const game = noun("game", "The catalogue").pipe(Command.withSubcommands([
  verb("create", "Add a game", {
    provider: text("provider", "Id or slug of its provider"),
    external_id: text("external-id", "The provider's own id of it"),
    name: text("name", "Its name"),
    ...gameSettings
  }, (client, input) => client.game.create({ payload: given(input) })),
  verb("update", "Change a game", {
    id: idOf("game"),
    external_id: optional(text("external-id", "The provider's own id of it")),
    name: optional(text("name", "Its name")),
    ...gameSettings
  }, (client, { id, ...input }) => client.game.update({ params: { game: id }, payload: given(input) })),
  verb("list", "Games by name, offered or not", {
    provider: optional(text("provider", "Id or slug of a provider")),
    active: optional(about(Flag.Literals("active", ["true", "false"]), "Only offered ones, or only others")),
    ...pageFlags
  }, (client, input) => client.game.list({ query: given(input) }))
]))

const methodSettings = {
  name: optional(text("name", "What players read (the code)")),
  currencies: optional(listOf("currencies", "ISO 4217 codes (the operator's own)")),
  supports_deposit: optional(truth("deposit", "Whether it takes deposits (true)")),
  supports_withdrawal: optional(truth("withdrawal", "Whether it pays out (true)")),
  min_deposit: optional(integer("min-deposit", "Minor units (1)")),
  max_deposit: optional(integer("max-deposit", "Minor units")),
  min_withdrawal: optional(integer("min-withdrawal", "Minor units (1)")),
  max_withdrawal: optional(integer("max-withdrawal", "Minor units")),
  active: optional(truth("active", "Whether it is offered (true)"))
}

const paymentMethod = noun("payment-method", "Ways to pay").pipe(Command.withSubcommands([
  verb("create", "Add a way to pay", {
    operator: operatorFlag,
    code: text("code", "What requests call it"),
    ...methodSettings
  }, (client, input) => client.payment_method.create({ payload: given(input) })),
  verb("update", "Change a way to pay", {
    id: idOf("payment method"),
    ...methodSettings
  }, (client, { id, ...input }) => client.payment_method.update({ params: { method: id }, payload: given(input) })),
  verb("list", "Ways to pay", {
    operator: optional(operatorFlag)
  }, (client, input) => client.payment_method.list({ query: given(input) }))
]))

/** `GAME=PERCENT,GAME=PERCENT` */
const contributions = text("contributions", "Percent of a stake that counts, like 17=50,18=0").pipe(Flag.filterMap(
  (given) =>
    /^[1-9]\d{0,14}=\d{1,3}(,[1-9]\d{0,14}=\d{1,3})*$/.test(given)
      ? Option.some(Object.fromEntries(given.split(",").map((pair) => pair.split("=")).map(([k, v]) => [k, Number(v)])))
      : Option.none(),
  (given) => `Expected game ids with percents like 17=50,18=0, got ${given}`
))

const bonusTerms = {
  description: optional(text("description", "What players read")),
  wagering_multiplier: optional(integer("wagering-multiplier", "How often it has to be wagered (30; cash 0)")),
  valid_days: optional(integer("valid-days", "How long it runs once activated (30)")),
  max_bet: optional(integer("max-bet", "Largest stake while it runs, minor units (0: no cap)")),
  max_conversion_multiplier: optional(
    integer("max-conversion-multiplier", "How many times its amount can be converted (0: no cap)")
  ),
  max_grants_per_player: optional(integer("max-grants-per-player", "How often a player can have it (0: no cap)")),
  contributions: optional(contributions),
  active: optional(truth("active", "Whether it is offered (true)"))
}

const bonus = noun("bonus", "Bonuses").pipe(Command.withSubcommands([
  verb("create", "Add a bonus", {
    operator: operatorFlag,
    name: text("name", "Its name"),
    type: about(Flag.Literals("type", bonusTypes), "What kind"),
    default_amount: integer("default-amount", "Minor units of the operator's currency"),
    ...bonusTerms
  }, (client, input) => client.bonus.create({ payload: given(input) })),
  verb(
    "list",
    "Bonuses, offered or not",
    { operator: optional(operatorFlag) },
    (client, input) => client.bonus.list({ query: given(input) })
  ),
  verb("cancel", "End a player's bonus; what is left of it is forfeited", {
    id: idOf("player bonus"),
    reason: optional(text("reason", "Why, for the audit log"))
  }, (client, { id, ...input }) => client.bonus.cancel({ params: { bonus: id }, payload: given(input) }))
]))

const promo = noun("promo", "Promo codes").pipe(Command.withSubcommands([
  verb("create", "Add a code", {
    operator: operatorFlag,
    code: text("code", "What players enter, in any case of its letters"),
    bonus: integer("bonus", "Id of the bonus it grants"),
    expires_at: optional(orNone(text("expires-at", "When it ends, like 2026-11-20T12:00:00Z (never)"))),
    max_redemptions: optional(amountOrNone("max-redemptions", "How often it can be redeemed, by all players"))
  }, (client, input) => client.promo.create({ payload: given(input) })),
  verb(
    "list",
    "Promo codes",
    { operator: optional(operatorFlag) },
    (client, input) => client.promo.list({ query: given(input) })
  )
]))

const player = noun("player", "Players").pipe(Command.withSubcommands([
  verb(
    "show",
    "One player",
    { id: idOf("player") },
    (client, { id }) => client.player.show({ params: { player: id } })
  ),
  verb("list", "Players, newest first", {
    operator: optional(operatorFlag),
    status: optional(about(Flag.Literals("status", playerStatuses), "Only accounts that are so")),
    email: optional(text("email", "Exactly this")),
    username: optional(text("username", "Exactly this")),
    external_id: optional(text("external-id", "Exactly this")),
    kyc_status: optional(about(Flag.Literals("kyc-status", kycStatuses), "Only players who are so")),
    search: optional(text("search", "Part of the username, e-mail or last name")),
    created_from: optional(text("created-from", "Registered at or after, like 2026-11-20T12:00:00Z")),
    created_to: optional(text("created-to", "Registered at or before")),
    ...pageFlags
  }, (client, input) => client.player.list({ query: given(input) })),
  verb("kyc", "Say how far the identity is known", {
    id: idOf("player"),
    status: about(Flag.Literals("status", kycStatuses), "Where it stands now"),
    reason: optional(text("reason", "Why, for the audit log"))
  }, (client, { id, ...input }) => client.player.kyc({ params: { player: id }, payload: given(input) })),
  verb("restrict", "Switch abilities on or off", {
    id: idOf("player"),
    can_login: optional(truth("can-login", "Whether session tokens are issued")),
    can_deposit: optional(truth("can-deposit", "Whether deposits are taken")),
    can_withdraw: optional(truth("can-withdraw", "Whether withdrawals are taken")),
    can_bet: optional(truth("can-bet", "Whether games open and bets are taken")),
    excluded_from_bonuses: optional(truth("excluded-from-bonuses", "Whether no bonus is given"))
  }, (client, { id, ...input }) => client.player.restrict({ params: { player: id }, payload: given(input) })),
  verb("correct", "Set a balance right", {
    id: idOf("player"),
    wallet: optional(about(Flag.Literals("wallet", walletKinds), "Which wallet (real)")),
    amount: integer("amount", "Signed minor units"),
    reason: text("reason", "Why, for the audit log")
  }, (client, { id, ...input }) => client.player.correct({ params: { player: id }, payload: given(input) }))
]))

const move = (name: PaymentMove, description: string) =>
  verb(name, description, {
    id: idOf("payment"),
    reason: optional(text("reason", "Why, for the audit log and, for a rejection, the operator"))
  }, (client, { id, ...input }) => client.payment[name]({ params: { payment: id }, payload: given(input) }))

const payment = noun("payment", "Deposits and withdrawals").pipe(Command.withSubcommands([
  verb(
    "show",
    "One payment",
    { id: idOf("payment") },
    (client, { id }) => client.payment.show({ params: { payment: id } })
  ),
  verb("list", "Payments, newest first", {
    operator: optional(operatorFlag),
    player: optional(integer("player", "Id of the player")),
    type: optional(about(Flag.Literals("type", paymentTypes), "Only these")),
    status: optional(about(Flag.Literals("status", paymentStatuses), "Only those that are so")),
    external_reference: optional(text("external-reference", "Exactly this")),
    ...pageFlags
  }, (client, input) => client.payment.list({ query: given(input) })),
  move("approve", "Allow a withdrawal; above the operator's threshold two people must"),
  move("pay", "Tell that an allowed withdrawal was paid out"),
  move("reject", "Refuse a withdrawal and return the money"),
  move("cancel", "Drop a new withdrawal and return the money"),
  move("chargeback", "Take back a deposit that was reversed")
]))

const ledger = noun("ledger", "The ledger").pipe(Command.withSubcommands([
  verb(
    "verify",
    "Prove the ledger; exit 1 when a law does not hold",
    { operator: optional(operatorFlag) },
    (client, input) => client.ledger.verify({ query: given(input) }),
    ({ violations }) => violations.length === 0
  )
]))

const audit = noun("audit", "Who did what").pipe(Command.withSubcommands([
  verb("list", "Newest first", {
    operator: optional(operatorFlag),
    player: optional(integer("player", "Id of a player")),
    ...pageFlags
  }, (client, input) => client.audit.list({ query: given(input) }))
]))

const program = root.pipe(
  Command.withSubcommands([
    staff,
    operator,
    key,
    provider,
    game,
    paymentMethod,
    bonus,
    promo,
    player,
    payment,
    ledger,
    audit
  ])
)

// ---------------------------------------------------------------------------------------------------------------------
// What comes out

const print = (data: unknown, json: boolean) =>
  Effect.sync(() => {
    process.stdout.write((process.stdout.isTTY && !json ? table(data) : JSON.stringify(data, null, 2)) + "\n")
  })

/** Ends with an exit code when all is written; nothing is cut off. */
const finish = (code: number) =>
  Effect.sync(() => {
    process.exitCode = code
  })

const explain = ({ code, details, message }: Refusal) =>
  Effect.sync(() => {
    process.stderr.write(JSON.stringify({ error: { code, message, details } }, null, 2) + "\n")
  }).pipe(Effect.andThen(finish(1)))

const isRefusal = (error: { readonly _tag: string }): error is Refusal => error._tag === "Refusal"

const isUsage = (error: unknown): error is CliError.CliError =>
  isObject(error) && "_tag" in error && error._tag === "ShowHelp"

/** Help that was asked for is an answer; a usage that nobody asked for is a complaint. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    Effect.sync(() => {
      const formatter = CliOutput.defaultFormatter({ colors: false })
      switch (event._tag) {
        case "Version":
          return process.stdout.write(formatter.formatVersion(event.name, event.version) + "\n")
        case "Help":
          return (event.reason === "Requested" ? process.stdout : process.stderr)
            .write(formatter.formatHelpDoc(event.helpDoc) + "\n")
        case "InvalidInvocation":
          return process.stderr.write(
            `${formatter.formatErrors(event.errors)}\n\n${formatter.formatHelpDoc(event.helpDoc)}\n`
          )
      }
    })
}

const main = Command.runWith(program, { version: "1" })(process.argv.slice(2)).pipe(
  Effect.catch((error) => {
    if (isUsage(error)) return finish(2)
    if (Schema.isSchemaError(error)) return explain(refuseFields(fieldIssues(error.issue)))
    if (HttpClientError.isHttpClientError(error)) {
      return explain(refuse("SERVER_ERROR", "The service does not answer. Is it running, and where this says?", {
        url: error.request.url
      }))
    }
    if (isRefusal(error)) return explain(error)
    return explain(refuse("INVALID_REQUEST", error.message))
  }),
  Effect.provideService(CliOutput.Presenter, presenter),
  Effect.provideService(CliConfig.CliConfig, {
    builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions]
  }),
  Effect.provide([FetchHttpClient.layer, NodeServices.layer])
)

await Effect.runPromise(main)
