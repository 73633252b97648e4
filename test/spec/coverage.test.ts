import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"

// Goal: every row of sections 3 to 8 of the specification, of the decisions that complete them and of the contracts with game
// providers and staff is proved by a test over HTTP, and this page says by which. Method: a table from rows to titles; a title that
// no file has any more fails, and so does a title of this folder that does not say what section it is about.

const folder = Path.join(import.meta.dirname, "..")

/** A row, and the tests that prove it: a file, below `test`, or below `test/e2e` by its name alone, and the start of a test's title. */
type Row = readonly [row: string, ...where: ReadonlyArray<readonly [file: string, title: string]>]

const section3: ReadonlyArray<Row> = [
  ["3.1 any to active, locked, closed, for who holds players:write", [
    "spec/section3",
    "3.1 PUT status goes from each"
  ]],
  ["3.1 the reason is stored as a note", ["players", "moves from any to any, and its reason is kept as a note"]],
  ["3.1 registration makes an active account with wallets", [
    "operatorApi",
    "registers a player with everything there is to say"
  ]],
  ["3.1 registration makes default limits", ["responsibleGaming", "begin without any, and show all sixteen"]],
  ["3.1 a real-mode launch checks the status", [
    "players",
    "decides at once what may be done: real play, bets, deposits and tokens"
  ]],
  ["3.1 an exclusion wins over active", ["spec/section3", "3.1 an exclusion wins over active"]],
  ["3.2 record paid deposit: paid, credited", ["spec/4-3-to-4-9", "4.4 record-deposit rules 1 to 3"]],
  ["3.2 request withdrawal: new, held", ["payments", "4.4 a withdrawal holds its amount and waits"]],
  ["3.2 approval, payout, rejection, cancellation, from each state", [
    "spec/section3",
    "3.2 every move from every state"
  ]],
  ["3.2 what each move sends", ["payments", "3.2 and 6.2 every state with its money and its event"]],
  ["3.2 two approvers", ["payments", "4.4 above a threshold two people approve, each with a role that may"]],
  ["3.3 KYC: every state to every state", ["spec/section3", "3.3 the KYC status goes along its ways"]],
  ["3.3 verified to expired by the document's date", ["spec/section3", "3.3 verified lasts through"]],
  ["3.3 a change emits kyc.status_changed", [
    "backofficeApi",
    "staff move the KYC status along its ways, and the operator is told"
  ]],
  ["3.4 credited at once, or queued", ["bonuses", "2.8, 3.4 and 6.2: a grant is credited at once, listed, and told"]],
  ["3.4 converted", ["bonuses", "3.4: wagering by contribution converts, and starts the bonus that waits"]],
  ["3.4 lost; without wagering paid out at once", ["bonuses", "3.4: one without wagering is paid out at once"]],
  ["3.4 expired", ["bonuses", "3.4: a bonus whose time has come is over"]],
  ["3.4 cancelled", ["bonuses", "staff cancel what runs and what waits, and the audit log knows"]],
  ["3.4 the oldest that waits follows", ["spec/section3", "3.4 however a bonus ends"]],
  ["3.5 none to active, type by length or as sent", ["responsibleGaming", "takes its type from its length"]],
  ["3.5 later end extends; shortening and lifting are refused", [
    "responsibleGaming",
    "can be prolonged, never shortened or weakened"
  ]],
  ["3.5 no play, deposits, bonuses; withdrawals", ["spec/section3", "3.5 an excluded player cannot play"]],
  ["3.5 running bonuses", ["spec/section3", "3.5 a type other than time_out cancels"]],
  ["3.5 later ends of other types", ["spec/section3", "3.5 a later end is never of a weaker type"]],
  ["3.2 and 3.5 settled whatever became of the account", [
    "spec/money",
    "3.2 and CONTRACT 2: what was begun is settled"
  ]],
  ["3.4 to the last millisecond", ["spec/money", "3.4 a bonus is staked to the last millisecond"]],
  ["3.5 tokens stop", ["playerSession", "stop when an exclusion starts and stay stopped when it is over"]],
  ["3.5 wins and rollbacks still settle", ["providerWallet", "and everything else is settled"]],
  ["3.5 a matching identity cannot register", ["operatorApi", "keeps out who excluded themselves"]],
  ["3.6 new or lowered at once; raised or null waits", ["spec/section3", "3.6 a raise and a removal wait"]]
]

const section4: ReadonlyArray<Row> = [
  ["4.1 GET me", ["edge", "tells a key who it is"]],
  ["4.2 GET players: pages, newest first", ["operatorApi", "lists players newest first, in pages, by every filter"]],
  ["4.2 GET players: each query parameter", ["spec/4-2-players", "4.2 list: each filter"]],
  ["4.2 POST players: all fields", ["operatorApi", "registers a player with everything there is to say"]],
  ["4.2 POST players: required fields", ["spec/4-2-players", "4.2 registration: each required field"]],
  ["4.2 POST players: optional fields and defaults", ["spec/4-2-players", "4.2 registration: each optional field"]],
  ["4.2 POST players: the rule of each field", ["spec/4-2-players", "4.2 registration: what each field takes"]],
  ["4.2 POST players: uniqueness", ["spec/4-2-players", "4.2 registration: username, e-mail, phone"]],
  ["4.2 POST players: SELF_EXCLUDED_IDENTITY", ["responsibleGaming", "keeps who is excluded from registering anew"]],
  ["4.2 POST players: promo_code is redeemed", ["bonuses", "4.2: a promo code at registration is redeemed"]],
  ["4.2 POST players: registration_ip is used by the risk engine", [
    "compliance",
    "4.2 the risk engine knows who shares what"
  ]],
  ["4.2 GET player", ["operatorApi", "registers a player with everything there is to say"]],
  ["4.2 PATCH player: each field, audited", ["spec/4-2-players", "4.2 PATCH: each field changes alone"]],
  ["4.2 PATCH player: only what is sent", ["players", "changes the fields sent and no others"]],
  ["4.2 PUT status", ["spec/section3", "3.1 PUT status goes from each"]],
  ["4.2 POST session-tokens", ["players", "last 30 minutes unless said otherwise, between 1 and 720"]],
  ["4.3 GET wallet", ["spec/4-3-to-4-9", "4.3 each type of entry of 2.4"]],
  ["4.3 GET transactions: pages and filters", [
    "operatorApi",
    "shows a ledger newest first, in pages, by every filter"
  ]],
  ["4.3 GET transactions: each type", ["spec/4-3-to-4-9", "4.3 each type of entry of 2.4"]],
  ["4.3 GET transactions: bounds of time", ["spec/4-3-to-4-9", "4.3 transactions: both bounds of time"]],
  ["4.4 GET payment-methods", ["spec/4-3-to-4-9", "4.4 payment-methods: active ones"]],
  ["4.4 GET payments: pages and filters", ["payments", "4.4 payments are listed newest first, filtered and in pages"]],
  ["4.4 GET payment", ["payments", "4.4 a withdrawal holds its amount and waits"]],
  ["4.4 record-deposit rules 1, 2, 3 and 6", ["spec/4-3-to-4-9", "4.4 record-deposit rules 1 to 3"]],
  ["4.4 record-deposit rule 4: limits and self-exclusion", [
    "operatorApi",
    "refuses deposits that limits or the account forbid"
  ]],
  ["4.4 record-deposit rule 5: deposit.paid", ["operatorApi", "credits a deposit once, whatever comes after it"]],
  ["4.4 bounds of a payment method", ["spec/4-3-to-4-9", "4.4 bounds of a method"]],
  ["4.4 bodies of deposits and withdrawals", ["spec/4-3-to-4-9", "4.4 bodies: what each field takes"]],
  ["4.4 request-withdrawal rule 1: held, second approver", ["spec/4-3-to-4-9", "4.4 request-withdrawal rule 1"]],
  ["4.4 request-withdrawal rule 2: KYC", ["payments", "4.4 and 7 a withdrawal that may not be is refused"]],
  ["4.4 request-withdrawal rule 2: bonuses", ["spec/money", "4 withdrawal while a bonus runs"]],
  ["4.4 record-deposit rule 4, request-withdrawal rule 2: AML rules", [
    "compliance",
    "4.4 AML rules look at deposits and withdrawals"
  ]],
  ["4.4 request-withdrawal rule 3: idempotent", ["payments", "4.4 a withdrawal holds its amount and waits"]],
  ["4.4 request-withdrawal rule 4: what it sends", [
    "payments",
    "3.2 and 6.2 every state with its money and its event"
  ]],
  ["4.5 GET games, providers, categories, game", ["operatorApi", "shows the games on offer"]],
  ["4.5 active games of active providers", ["spec/4-3-to-4-9", "4.5 only active games of active providers"]],
  ["4.5 launch rules 1 to 3", ["spec/4-3-to-4-9", "4.5 launch rules 1 to 3"]],
  ["4.5 launch rule 1: status, exclusion, session limit", ["operatorApi", "launches games, for real and for show"]],
  ["4.6 GET bonuses", ["bonuses", "2.8 and 4.6: staff create bonuses on the command line"]],
  ["4.6 GET player bonuses", ["bonuses", "2.8, 3.4 and 6.2: a grant is credited at once"]],
  ["4.6 POST bonuses", ["spec/4-3-to-4-9", "4.6 grant body"]],
  ["4.6 POST promo-codes", ["bonuses", "4.6 and 7: promo codes, in any case"]],
  ["4.6 refusals", ["bonuses", "4.6 and 7: refuses with BONUS_INVALID"]],
  ["4.7 GET limits", ["spec/4-3-to-4-9", "4.7 a limits resource"]],
  ["4.7 PUT limits", ["responsibleGaming", "apply at once when stricter and wait when looser"]],
  ["4.7 PUT limits: what is refused", ["responsibleGaming", "are refused with every bad field named"]],
  ["4.7 POST self-exclusion: each period", ["responsibleGaming", "takes its type from its length"]],
  ["4.8 GET reports/ggr", ["spec/4-8-reports", "4.8 GGR: every figure of a day"]],
  ["4.9 GET me, wallet, transactions", ["spec/4-3-to-4-9", "4.9 each player endpoint"]],
  ["4.5 launch rule 4: NOT_AN_ORIGINAL", ["spec/4-9-play", "4.5 rule 4"], ["spec/section7", "7 NOT_AN_ORIGINAL 422"]],
  ["4.9 POST play", ["spec/4-9-play", "4.9 play: bet and win"], [
    "originals",
    "every round was decided by what was promised"
  ]],
  ["4.9 POST launch", ["playerSession", "launch games, whose sessions take bets"]]
]

const section5: ReadonlyArray<Row> = [
  ["5.1 string to sign", ["spec/section5", "5.1 the string to sign"]],
  ["5.1 rule 1: once", ["spec/section5", "5.1 rule 1"], ["edge", "refuses after a restart what it accepted before"]],
  ["5.1 rule 2: the same bytes", ["spec/section5", "5.1 rule 2"]],
  ["5.1 rule 3: each refusal", ["spec/section7", "7 MISSING_CREDENTIALS 401"], [
    "spec/section7",
    "7 TIMESTAMP_OUT_OF_RANGE"
  ]],
  ["5.1 rule 4: rotation, revocation", ["spec/section5", "5.1 rule 4"], [
    "backofficeApi",
    "a key lives from its creation"
  ]],
  ["5.2 allowlist", ["spec/section5", "5.2 an allowlist"]],
  ["5.3 each scope", ["spec/section5", "5.3 each endpoint asks for its scope"]],
  ["5.4 rules 1 to 5", ["spec/section5", "5.4 rules 1 to 5"], [
    "playerSession",
    "end at their expiry, to the millisecond"
  ]]
]

const section6: ReadonlyArray<Row> = [
  ["6.1 headers, signature, envelope", ["webhooks", "tell everything, in full, whoever did it"]],
  ["6.2 each type with its data, whatever the origin", ["webhooks", "tell everything, in full, whoever did it"]],
  ["6.3 2xx within 5 seconds", ["features/webhooks/Transport", "a 2xx is a success"], [
    "features/webhooks/Transport",
    "no answer within five seconds"
  ]],
  ["6.3 redirects are not followed", [
    "features/webhooks/Transport",
    "every other status is a failure, and redirects lead nowhere"
  ]],
  ["6.3 eight attempts, then failed; staff retry", [
    "features/webhooks/WebhookSender",
    "keeps the timetable: eight attempts"
  ]],
  ["6 subscribed types only", ["features/webhooks/WebhookSender", "tells whom it concerns"]],
  ["6 test ping", ["features/webhooks/WebhookSender", "pings at once, once"]],
  ["6.2 player.registered", ["operatorApi", "registers a player with everything there is to say"]],
  ["6.2 deposit.paid", ["operatorApi", "credits a deposit once, whatever comes after it"]],
  ["6.2 withdrawal.requested, .paid, .rejected", ["payments", "3.2 and 6.2 every state with its money and its event"]],
  ["6.2 bonus.granted", ["bonuses", "2.8, 3.4 and 6.2: a grant is credited at once"]],
  ["6.2 bonus.completed", ["bonuses", "3.4: wagering by contribution converts"]],
  ["6.2 kyc.status_changed", ["backofficeApi", "staff move the KYC status along its ways"]],
  ["6.2 compliance.alert_created", ["compliance", "6.2 each rule raises its alert, and the operator hears of it once"]],
  ["6.2 compliance.alert_created, once, whatever dies", ["soak/complianceKilled", "raise each alert once"]],
  ["6 events of what is refused are never sent", ["spec/money", "6 what is refused leaves no event"]]
]

const section7: ReadonlyArray<Row> = [
  ["7 the envelope, every code, its status and details", ["spec/section7", "7 every code of the table was met"]],
  ["7 never a 5xx for bad input", ["badInput", "numbers out of every range"], ["edge", "are never answered with 500"]],
  ["7 409 while the first runs", ["operatorApi", "does once what comes many times at once"]]
]

const section8: ReadonlyArray<Row> = [
  ["8 timestamp tolerance", ["spec/section8", "8 signed timestamp"]],
  ["8 nonce length", ["spec/section8", "8 nonce"]],
  ["8 Idempotency-Key length, replay window", ["spec/section8", "8 idempotency: a key of 255"]],
  ["8 idempotency rules", ["spec/section8", "8 idempotency: the same key"], [
    "operatorApi",
    "does once what comes with an idempotency key"
  ]],
  ["8 rate limit and its headers", ["spec/section8", "8 rate: 600 a minute"]],
  ["8 page size", ["spec/section8", "8 page size"]],
  ["8 session token lifetime", ["spec/section8", "8 session token"]],
  ["8 wallet session", ["spec/section8", "8 real-mode wallet session"]],
  ["8 session time limit 5-1440", ["spec/limits", "2.9 each limit takes 0 to 2^53-1"]],
  ["8 cooling-off", ["spec/section8", "8 cooling-off"]],
  ["8 username, password, age", ["spec/section8", "8 username: 3 to 30"], ["spec/section8", "8 age"]],
  ["8 time-out and self-exclusion length", ["spec/section8", "8 time-out: up to 30 days"]],
  ["8 webhook acknowledgement", ["features/webhooks/Transport", "no answer within five seconds"]],
  ["8 GGR report range", ["spec/4-8-reports", "8 GGR report range"]],
  ["8 external_reference", ["spec/section8", "8 deposits and withdrawals are idempotent"]]
]

const decisions: ReadonlyArray<Row> = [
  ["1 features", ["spec/section5", "5.3 and DECISIONS 1"]],
  ["1 alert rule, severity and status", ["compliance", "6.2 each rule raises its alert"], [
    "compliance",
    "CONTRACT 3 alert list, show and update"
  ]],
  ["1 bonus types", ["spec/4-3-to-4-9", "4.6 DECISIONS 1"]],
  ["2.1 statuses of success", ["spec/tenancy", "1 an endpoint with an id in its path"], [
    "spec/section8",
    "8 deposits and withdrawals"
  ]],
  ["2.2 path, method, credentials", ["spec/order", "2.2 a path or a method"], ["spec/order", "2.2 credentials"]],
  ["2.2 replay, address, rate, scope, feature, key", ["spec/order", "2.2 replay, address"]],
  ["2.2 key, resource, body, rules", ["spec/order", "2.2 an idempotency key"]],
  ["2.3 deposit", ["spec/order", "2.3 a deposit"]],
  ["2.3 withdrawal", ["spec/order", "2.3 a withdrawal"]],
  ["2.3 bet", ["spec/order", "2.3 a bet"]],
  ["2.3 launch", ["spec/order", "2.3 a launch"]],
  ["2.4 keys live per operator and per player", ["operatorApi", "does once what comes with an idempotency key"], [
    "playerSession",
    "keep idempotency keys per player"
  ]],
  ["2.5 bodies, ids in paths, unknown fields", ["badInput", "bodies that are no JSON object"], [
    "badInput",
    "paths of every kind"
  ]],
  ["2.5 256 KiB", ["spec/section7", "7 VALIDATION_FAILED 422"]],
  ["2.6 signatures are remembered for 600 s", ["spec/section5", "5.1 rule 1"]],
  ["2.7 rate window", ["spec/section8", "8 rate: 600 a minute"]],
  ["2.8 X-Request-Id", ["spec/section8", "2.8 X-Request-Id"]],
  ["2.9 details", ["spec/section7", "7 LIMIT_EXCEEDED 422"], ["spec/section7", "7 DUPLICATE_TRANSACTION 409"]],
  ["2.10 money is a safe integer", ["badInput", "numbers out of every range"]],
  ["4 funding a bet", ["spec/money", "4 funding a bet: real first"], ["spec/money", "4 funding a bet: no bonus money"]],
  ["4 routing a win", ["spec/money", "4 routing a win: by the round"], ["spec/money", "4 routing a win: all real"], [
    "spec/money",
    "4 routing a win: credited"
  ]],
  ["4 rollback", ["spec/money", "4 rollback"]],
  ["4 contribution", ["spec/money", "4 contribution"]],
  ["4 wagering", ["spec/money", "4 wagering"]],
  ["4 max_bet", ["spec/money", "4 max_bet"]],
  ["4 max_conversion_multiplier", ["spec/money", "4 max_conversion_multiplier"]],
  ["4 lost", ["spec/money", "4 lost"]],
  ["4 withdrawal while a bonus runs", ["spec/money", "4 withdrawal while"]],
  ["4 loss limits", ["spec/limits", "4 loss limits"]],
  ["4 bet limits", ["spec/limits", "4 bet limits"], ["spec/limits", "4 a rollback on another day"]],
  ["4 deposit limits", ["spec/limits", "2.9 ${limit}: up to exactly that, until its window ends; nothing"]],
  ["4 windows", ["spec/limits", "2.9 ${limit}: up to exactly that, until its window ends"]],
  ["4 max_balance", ["spec/limits", "2.9 max_balance"]],
  ["4 max_session_minutes", ["spec/limits", "2.9 max_session_minutes"]],
  ["4 single limits", ["spec/limits", "2.9 ${limit}: a bet of exactly that"], [
    "spec/limits",
    "2.9 max_single_deposit"
  ]],
  ["4 negative balance", ["spec/money", "4 negative balance"]],
  ["2.3 play", ["spec/4-9-play", "2.3 a play"]],
  ["4 originals", ["originals", "every round was decided by what was promised"]],
  ["5 play: body, fields, one step", ["spec/4-9-play", "4.9 play: bet and win"]],
  ["5 play: once, and its feature", ["spec/4-9-play", "4.9 play: once under"]],
  ["4 GGR", ["spec/4-8-reports", "4.8 GGR: every figure"], ["spec/4-8-reports", "4.8 GGR: days in UTC"]],
  ["4 unverified_withdrawal_allowance", ["spec/money", "4 unverified_withdrawal_allowance"]]
]

const contract: ReadonlyArray<Row> = [
  ["2 /authenticate", ["providerWallet", "authenticate says whose session it is"]],
  ["2 /balance", ["providerWallet", "balance answers to a session and to a player's name"]],
  ["2 /bet, /win, /rollback", ["providerWallet", "a bet, its win and their rollbacks say what moved"]],
  ["2 /win of 0", ["providerWallet", "a win of nothing writes no entry"]],
  ["2 /bet-win", ["providerWallet", "bet-win is one step: both or neither"]],
  ["2 /batch", ["providerWallet", "a batch is settled in order, all or nothing"], [
    "providerWallet",
    "a batch is one player's"
  ]],
  ["2 /round/close", ["providerWallet", "a closed round takes no new bet and no new win"]],
  ["2 /promo-win", ["providerWallet", "promo-wins are real money of their kind"]],
  ["2 /bet is_free", ["providerWallet", "a free bet costs nothing and names its campaign"]],
  ["2 /transactions/{id}", ["providerWallet", "a rollback that comes before its target leaves a tombstone"]],
  ["2 wallet_seq", ["spec/money", "CONTRACT 2 wallet_seq"]],
  ["2 other currency, game, player", ["providerWallet", "a game, a player and a currency have to be the right ones"]],
  ["2 known id, same content", ["providerWallet", "a known message is answered as it was, for ever"]],
  ["2 known id, other content", ["providerWallet", "a known id with other content is refused"]],
  ["2 rollback of what was never seen; late bet or win", ["providerWallet", "a rollback that comes before its target"]],
  ["2 rollback twice, of a settled bet, of a rollback; a win of an unknown bet", [
    "providerWallet",
    "rollbacks: once, wins before their bets"
  ]],
  ["2 rollback of a win that is spent", ["providerWallet", "a win whose money is spent is taken back"]],
  ["2 round closed", ["providerWallet", "a closed round takes no new bet"]],
  ["2 session unknown or over", ["providerWallet", "a bet needs a real session that runs"]],
  ["2 account, exclusion", ["providerWallet", "cannot bet, and everything else is settled"]],
  ["2 limits, funds", ["providerWallet", "limits refuse bets and nothing else"], [
    "providerWallet",
    "a stake must be covered"
  ]],
  ["2 bonus", ["spec/money", "4 max_bet"]],
  ["2 503 TRY_AGAIN", ["soak/outage", "is said at once, and what did not fit can be sent again"]],
  ["2 a provider that is switched off", ["spec/money", "CONTRACT 2 a provider that is switched off"]],
  ["2 headers, no replay refusal, no rate", ["providerWallet", "who asks is checked, every time"]],
  ["3 each command is refused with exit 1", ["spec/commandLine", "CONTRACT 3 each command"]],
  ["3 each command works, at once", ["spec/commandsWork", "CONTRACT 3 ${commandOf(line)} does what it says"], [
    "spec/commandsWork",
    "CONTRACT 3 every command has a case"
  ]],
  ["3 JSON, and a table on a terminal", ["spec/commandsWork", "CONTRACT 3 a terminal gets a table"]],
  ["3 refusals of each command", ["spec/commandsRefused", "CONTRACT 3 an id of nothing"], [
    "spec/commandsRefused",
    "CONTRACT 3 a role that may not"
  ], ["spec/commandsRefused", "CONTRACT 3 without a service"]],
  ["3 usage of each command", ["spec/commandsRefused", "CONTRACT 3 what is not understood or left out"]],
  ["3 the audit log", ["spec/commandsAudit", "CONTRACT 3 ${commandOf(line)} leaves one line"]],
  ["3 usage exits 2", ["backofficeCli", "says its usage on standard error and exits 2"]],
  ["3 operators and keys", ["backofficeCli", "operators and keys"]],
  ["3 providers, games, payment methods", ["backofficeCli", "providers, games and ways to pay"]],
  ["3 players, audit, ledger", ["backofficeCli", "players, corrections, the audit log"]],
  ["3 bonuses, promo codes", ["bonuses", "2.8 and 4.6: staff create bonuses"], ["bonuses", "4.6 and 7: promo codes"]],
  ["3 rate set, report ggr", ["spec/4-8-reports", "4.8 and CONTRACT 3: rate set"]],
  ["3 webhooks and deliveries", ["webhooks", "are steered from the command line"]],
  ["3 alert list, alert update", ["compliance", "CONTRACT 3 alert list, show and update"]],
  ["3 alert rules, alert configure, holds", ["compliance", "CONTRACT 3 alert rules and configure"], [
    "compliance",
    "7 PLAYER_RESTRICTED: an alert that stops withdrawals"
  ]],
  ["3 payments", ["payments", "the command line moves payments and shows them"]]
]

const tables = { section3, section4, section5, section6, section7, section8, decisions, contract }

/** The titles of the tests in a file, as they stand there. */
const titlesOf = (file: string): ReadonlyArray<string> => {
  const text = Fs.readFileSync(Path.join(folder, file.includes("/") ? "" : "e2e", `${file}.test.ts`), "utf8")
  return [...text.matchAll(/\bit(?:\.\w+)?\(\s*(["'`])((?:(?!\1).)+)\1/g)].map(([, , title = ""]) => title)
}

describe("the table of rows", () => {
  for (const [name, rows] of Object.entries(tables)) {
    it(`${name}: every row has its test`, () => {
      const lost = rows.flatMap(([row, ...where]) =>
        where.length === 0
          ? [`${row}: nowhere`]
          : where.filter(([file, title]) => !titlesOf(file).some((other) => other.includes(title))).map((
            [file, title]
          ) => `${row}: ${file} has no "${title}"`)
      )
      assert.deepStrictEqual(lost, [])
      assert.strictEqual(new Set(rows.map(([row]) => row)).size, rows.length, "no row twice")
    })
  }

  it("every test of the folder names its section", () => {
    const files = Fs.readdirSync(import.meta.dirname).filter((file) =>
      file.endsWith(".test.ts") && file !== Path.basename(import.meta.filename)
    )
    const titles = files.flatMap((file) => titlesOf(`spec/${file.replace(".test.ts", "")}`))
    assert.isAbove(titles.length, 60)
    assert.deepStrictEqual(titles.filter((title) => !/^(\d(\.\d+)? |CONTRACT \d )/.test(title)), [])
  })
})
