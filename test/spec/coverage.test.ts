import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"

// Goal: every row of sections 2 to 8 of the specification, of the decisions that complete them and of the contracts with providers
// and staff is tested over HTTP, or, beside one case over HTTP, by the test of the rule. Method: a table from rows to titles; a
// title without a test fails, and so does a title of this folder without its section.

const folder = Path.join(import.meta.dirname, "..")

/** One line for rows covered by the same tests; a test is a file of `test` and a part of a title in it. */
const tables: { readonly [section: string]: string } = {
  section2: `
2.1 to 2.9 the fields of every resource | spec/section2: 2 each schema
2.11 pages, links and cursors | spec/4-3-to-4-9: 2.11 the links`,
  section3: `
3.1 any to active, locked, closed, for who holds players:write | spec/section3: 3.1 PUT status goes from each
3.1 the reason is stored as a note | e2e/backofficePeople: notes about staff, operators
3.1 registration makes an active account with wallets | spec/4-2-players: 4.2 registration: each optional field
3.1 registration makes default limits | e2e/thresholds: default limits apply from registration | spec/4-3-to-4-9: 4.7 a limits resource
3.1 a real-mode launch checks the status | spec/order: 2.3 a launch
3.1 an exclusion wins over active | spec/section3: 3.1 an exclusion wins over active
3.2 record paid deposit: paid, credited | spec/4-3-to-4-9: 4.4 record-deposit rules 1 to 3
3.2 request withdrawal: new, held | spec/4-3-to-4-9: 4.4 payments: newest first | spec/4-3-to-4-9: 4.3 each type of entry
3.2 approval, payout, rejection, cancellation, from each state | rules/PaymentTransitions: allows the documented transitions and no others | spec/commandsWork: CONTRACT 3 \${commandOf(line)}
3.2 what each move sends; 3.3 a change emits kyc.status_changed | e2e/webhooks: deliver every event type
3.2 two approvers | security/fourEyes: one person cannot approve a withdrawal that was split | e2e/backofficeApi: allows each operation only
3.3 KYC: every state to every state | rules/AccountStatus: allows the documented transitions only | e2e/webhooks: deliver every event type
3.3 verified to expired by the document's date | spec/section3: 3.3 verified lasts through
3.4 credited at once, or queued | spec/4-3-to-4-9: 4.6 grant body
3.4 converted | spec/money: 4 a bonus from grant to conversion | spec/section3: 3.4 however a bonus ends
3.4 lost; without wagering paid out at once | spec/money: 4 a bonus that is not converted | spec/4-3-to-4-9: 4.6 DECISIONS 1
3.4 expired | spec/4-3-to-4-9: 4.6 a bonus that expired | spec/section3: 3.4 however a bonus ends
3.4 cancelled; 3.4 the oldest that waits follows | spec/section3: 3.4 however a bonus ends
3.5 none to active, type by length or as sent | spec/section8: 8 time-out
3.5 later end extends; shortening and lifting are refused | rules/Exclusions: takes a later end and keeps the beginning | rules/Exclusions: never end earlier | spec/section7: 7 SELF_EXCLUDED_IDENTITY 422
3.5 no play, deposits, bonuses; withdrawals | spec/section3: 3.5 an excluded player cannot play
3.5 running bonuses | rules/Exclusions: exclusions other than a time-out cancel the active bonus
3.5 later ends of other types | rules/Exclusions: does not become a time-out
3.2 and 3.5 settled whatever became of the account | spec/money: 3.2 and CONTRACT 2: open bets and withdrawals are settled
3.4 to the last millisecond | spec/money: 3.4 a bonus is staked to the last millisecond
3.5 tokens stop | spec/tokens: 5.4 a token after
3.5 wins and rollbacks still settle | spec/money: 3.2 and CONTRACT 2: open bets and withdrawals
3.5 a matching identity cannot register | spec/4-2-players: 4.2 registration: an excluded identity
3.6 new or lowered at once; raised or null waits | spec/section3: 3.6 a raise and a removal wait`,
  section4: `
4.1 GET me | e2e/edge: GET me returns
4.2 GET players: pages, newest first | spec/4-2-players: 4.2 list: each filter | spec/4-3-to-4-9: 2.11 the links
4.2 GET players: each query parameter | spec/4-2-players: 4.2 list: each filter
4.2 POST players: all fields; 4.2 POST players: optional fields and defaults; 4.2 GET player | spec/4-2-players: 4.2 registration: each optional field
4.2 POST players: required fields | spec/4-2-players: 4.2 registration: each required field
4.2 POST players: the rule of each field | spec/4-2-players: 4.2 registration: each field accepts
4.2 POST players: uniqueness | spec/4-2-players: 4.2 registration: username, e-mail, phone
4.2 POST players: SELF_EXCLUDED_IDENTITY | spec/4-2-players: 4.2 registration: an excluded identity
4.2 POST players: promo_code is redeemed | spec/4-2-players: 4.2 registration: an existing promo code
4.2 POST players: registration_ip is used by the risk engine | e2e/compliance: 4.2 the risk engine finds players who share
4.2 PATCH player: each field, audited; 4.2 PATCH player: only what is sent | spec/4-2-players: 4.2 PATCH: each field changes alone
4.2 PUT status | spec/section3: 3.1 PUT status goes from each
4.2 POST session-tokens | spec/section8: 8 session token
4.3 GET wallet; 4.3 GET transactions: each type | spec/4-3-to-4-9: 4.3 each type of entry of 2.4
4.3 GET transactions: pages and filters | spec/4-3-to-4-9: 2.11 the links | spec/4-3-to-4-9: 4.3 transactions
4.3 GET transactions: bounds of time | spec/4-3-to-4-9: 4.3 transactions: both bounds of time
4.4 GET payment-methods | spec/4-3-to-4-9: 4.4 payment-methods: the active ones
4.4 GET payments: pages and filters; 4.4 GET payment | spec/4-3-to-4-9: 4.4 payments: newest first
4.4 record-deposit rules 1, 2, 3 and 6 | spec/4-3-to-4-9: 4.4 record-deposit rules 1 to 3
4.4 record-deposit rule 4: limits and self-exclusion | spec/order: 2.3 a deposit | spec/limits: 2.9 \${limit}: deposits are accepted up to exactly the limit
4.4 record-deposit rule 5: deposit.paid; 4.4 request-withdrawal rule 4: what it sends | e2e/webhooks: deliver every event type
4.4 bounds of a payment method | spec/4-3-to-4-9: 4.4 bounds of a method
4.4 bodies of deposits and withdrawals | spec/4-3-to-4-9: 4.4 bodies: each field accepts
4.4 request-withdrawal rule 1: held, second approver | spec/4-3-to-4-9: 4.4 request-withdrawal rule 1
4.4 request-withdrawal rule 2: KYC | spec/money: 4 unverified_withdrawal_allowance | spec/order: 2.3 a withdrawal
4.4 request-withdrawal rule 2: bonuses | spec/money: 4 withdrawal while a bonus runs
4.4 record-deposit rule 4, request-withdrawal rule 2: AML rules | e2e/compliance: 6.2 each rule raises its alert
4.4 request-withdrawal rule 3: idempotent | spec/section8: 8 deposits and withdrawals | spec/order: 2.3 a withdrawal
4.5 GET games, providers, categories, game | spec/4-3-to-4-9: 4.5 only active games | spec/section2: 2 each schema
4.5 active games of active providers | spec/4-3-to-4-9: 4.5 only active games of active providers
4.5 launch rules 1 to 3 | spec/4-3-to-4-9: 4.5 launch rules 1 to 3
4.5 launch rule 1: status, exclusion, session limit | spec/order: 2.3 a launch | spec/limits: 2.9 max_session_minutes
4.6 GET bonuses | spec/4-3-to-4-9: 4.6 DECISIONS 1 | spec/commandsWork: CONTRACT 3 \${commandOf(line)}
4.6 GET player bonuses | spec/4-3-to-4-9: 4.6 a player's bonuses
4.6 POST bonuses | spec/4-3-to-4-9: 4.6 grant body
4.6 POST promo-codes | spec/4-3-to-4-9: 4.6 promo codes
4.6 refusals | spec/section7: 7 BONUS_INVALID 422
4.7 GET limits | spec/4-3-to-4-9: 4.7 a limits resource
4.7 PUT limits | spec/section3: 3.6 a raise and a removal wait
4.7 PUT limits: what is refused | spec/4-3-to-4-9: 4.7 a limits resource | spec/limits: 2.9 each limit takes
4.7 POST self-exclusion: each period | spec/section8: 8 time-out
4.8 GET reports/ggr | spec/4-8-reports: 4.8 GGR: every figure of a day
4.9 GET me, wallet, transactions | spec/4-3-to-4-9: 4.9 each player endpoint
4.5 launch rule 4: NOT_AN_ORIGINAL | spec/4-9-play: 4.5 rule 4 | spec/section7: 7 NOT_AN_ORIGINAL 422
4.9 POST play | spec/4-9-play: 4.9 play: bet and win | e2e/originals: every round was decided by the promised seed
4.9 POST launch | spec/tokens: 4.9 the player endpoints`,
  section5: `
5.1 string to sign | spec/section5: 5.1 the string to sign
5.1 rule 1: once | spec/section5: 5.1 rule 1 | e2e/edge: an accepted signature is refused
5.1 rule 2: the same bytes | spec/section5: 5.1 rule 2
5.1 rule 3: each refusal | spec/section7: 7 MISSING_CREDENTIALS 401 | spec/section7: 7 TIMESTAMP_OUT_OF_RANGE
5.1 rule 4: rotation, revocation | spec/section5: 5.1 rule 4
5.2 allowlist | http/Pipeline: an allowlist takes IPv4 and IPv6 | spec/section7: 7 IP_NOT_ALLOWED 403
5.3 each scope | spec/section5: 5.3 each endpoint requires its scope
5.4 rules 1 to 5 | spec/tokens: 5.4 a token after | spec/tokens: 5.4 rule 4`,
  section6: `
6.1 headers, signature, envelope; 6.2 each type with its data, whatever the origin; 6.2 player.registered; 6.2 deposit.paid; 6.2 withdrawal.requested, .paid, .rejected; 6.2 bonus.granted; 6.2 bonus.completed; 6.2 kyc.status_changed | e2e/webhooks: deliver every event type
6.3 2xx within 5 seconds | features/webhooks/Transport: a webhook answered with 2xx is a success | features/webhooks/Transport: a webhook without an answer within five seconds
6.3 redirects are not followed | features/webhooks/Transport: a webhook answered with a status other than 2xx is a failure, and redirects are not followed
6.3 eight attempts, then failed; staff retry | features/webhooks/WebhookSender: keeps the timetable: eight attempts
6 subscribed types only | features/webhooks/WebhookSender: delivers an event to its operator's active endpoints
6 test ping | features/webhooks/WebhookSender: pings at once with a single attempt
6.2 compliance.alert_created | e2e/compliance: 6.2 each rule raises its alert, and the operator is notified once
6.2 compliance.alert_created, once, whatever dies | soak/complianceKilled: raise each alert once
6 events of what is refused are never sent | spec/money: 6 a refused request leaves no event`,
  section7: `
7 the envelope, every code, its status and details | spec/section7: 7 every code of the table in the specification
7 never a 5xx for bad input | e2e/badInput: numbers out of range | soak/fuzz: are answered as documented
7 409 while the first runs | spec/section7: 7 IDEMPOTENCY_IN_PROGRESS`,
  section8: `
8 timestamp tolerance | spec/section8: 8 signed timestamp
8 nonce length | spec/section8: 8 nonce
8 Idempotency-Key length, replay window | spec/section8: 8 idempotency: a key of 255
8 idempotency rules | spec/section8: 8 idempotency: the same key | spec/idempotencyWindow: 8 idempotency: the window
8 rate limit and its headers | spec/section8: 8 rate: 600 requests a minute
8 page size | spec/section8: 8 page size
8 session token lifetime | spec/section8: 8 session token
8 wallet session | spec/section8: 8 real-mode wallet session
8 session time limit 5-1440 | spec/limits: 2.9 each limit takes null or 0 to 2^53-1
8 cooling-off | spec/section8: 8 cooling-off
8 username, password, age | spec/4-2-players: 4.2 registration: each field accepts | features/players/Registration: \${field}: keeps good values | features/players/Registration: counts calendar days in UTC
8 time-out and self-exclusion length | spec/section8: 8 time-out: up to 30 days
8 webhook acknowledgement | features/webhooks/Transport: a webhook without an answer within five seconds
8 GGR report range | spec/4-8-reports: 8 GGR report range
8 external_reference | spec/section8: 8 deposits and withdrawals are idempotent`,
  decisions: `
1 features | spec/section5: 5.3 and DECISIONS 1
1 alert rule, severity and status | e2e/compliance: 6.2 each rule raises its alert
1 bonus types | spec/4-3-to-4-9: 4.6 DECISIONS 1
2.1 statuses of success | spec/tenancy: 1 an endpoint with an id in its path | spec/section8: 8 deposits and withdrawals
2.2 path, method, credentials | spec/order: 2.2 a path or a method | spec/order: 2.2 credentials
2.2 replay, address, rate, scope, feature, key | spec/order: 2.2 replay, address
2.2 key, resource, body, rules | spec/order: 2.2 an idempotency key
2.3 deposit | spec/order: 2.3 a deposit
2.3 withdrawal | spec/order: 2.3 a withdrawal
2.3 bet | spec/order: 2.3 a bet
2.3 launch | spec/order: 2.3 a launch
2.4 keys live per operator and per player | spec/section8: 8 idempotency: a key of 255 | spec/tenancy: 1 an endpoint with an id in its path | spec/tokens: 2.4 idempotency keys
2.5 bodies, ids in paths, unknown fields | e2e/badInput: bodies that are not JSON objects | e2e/badInput: malformed paths
2.5 256 KiB | spec/section7: 7 VALIDATION_FAILED 422
2.6 signatures are remembered for 600 s | spec/section5: 5.1 rule 1
2.7 rate window | spec/section8: 8 rate: 600 requests a minute
2.8 X-Request-Id | spec/section8: 2.8 X-Request-Id
2.9 details | spec/section7: 7 LIMIT_EXCEEDED 422 | spec/section7: 7 DUPLICATE_TRANSACTION 409
2.10 money is a safe integer | e2e/badInput: numbers out of range
4 funding a bet | spec/money: 4 a bonus from grant to conversion | spec/money: 4 a bonus that is not converted | rules/Settlement: is staked after real money
4 routing a win | spec/money: 4 a bonus from grant to conversion | spec/money: 4 a bonus that is not converted | rules/BonusTraffic: are granted, wagered and ended by their terms
4 rollback | spec/money: 4 a bonus from grant to conversion | rules/BonusTraffic: are granted, wagered and ended by their terms
4 contribution | spec/money: 4 a bonus from grant to conversion | rules/BonusTraffic: are granted, wagered and ended by their terms
4 wagering | spec/money: 4 a bonus from grant to conversion | rules/BonusTraffic: are granted, wagered and ended by their terms
4 max_bet | spec/money: 4 a bonus from grant to conversion | rules/Settlement: limits the stake while the bonus is active
4 max_conversion_multiplier | spec/money: 4 a bonus from grant to conversion
4 lost | spec/money: 4 a bonus that is not converted | rules/Settlement: is lost when none is left
4 withdrawal while a bonus runs | spec/money: 4 withdrawal while
4 loss limits | spec/limits: 4 bet limits count gross | rules/LimitTraffic: hold and are reported correctly
4 bet limits | spec/limits: 4 bet limits count gross | rules/LimitTraffic: hold and are reported correctly
4 deposit limits | spec/limits: 2.9 \${limit}: deposits are accepted up to exactly the limit
4 windows | spec/limits: 2.9 \${limit}: bets are accepted up to exactly the limit
4 max_balance | spec/limits: 2.9 max_balance
4 max_session_minutes | spec/limits: 2.9 max_session_minutes
4 single limits | spec/limits: 2.9 \${limit}: a bet of exactly the limit | spec/limits: 2.9 max_single_deposit
4 negative balance | spec/money: 4 negative balance
2.3 play | spec/4-9-play: 2.3 a play
4 originals | e2e/originals: every round was decided by the promised seed
5 play: body, fields, one step | spec/4-9-play: 4.9 play: bet and win
5 play: once, and its feature | spec/4-9-play: 4.9 play: is executed once under
4 GGR | spec/4-8-reports: 4.8 GGR: every figure | spec/4-8-reports: 4.8 GGR: days are in UTC
4 unverified_withdrawal_allowance | spec/money: 4 unverified_withdrawal_allowance`,
  contract: `
2 /authenticate | spec/provider: CONTRACT 2 authenticate
2 /balance | spec/provider: CONTRACT 2 balance
2 /bet, /win, /rollback, /transactions/{id} | spec/provider: CONTRACT 2 bet, win and rollback
2 /win of 0 | spec/provider: CONTRACT 2 win of 0
2 /bet-win | spec/provider: CONTRACT 2 bet-win
2 /batch | spec/provider: CONTRACT 2 batch: is executed in order | spec/provider: CONTRACT 2 batch: takes 1 to 100 actions
2 /round/close, round closed | spec/provider: CONTRACT 2 a closed round
2 /promo-win | spec/provider: CONTRACT 2 promo-win
2 /bet is_free | spec/provider: CONTRACT 2 a free bet
2 wallet_seq | spec/money: CONTRACT 2 wallet_seq
2 other currency, game, player | spec/provider: CONTRACT 2 game, player and currency
2 known id, same content | spec/provider: CONTRACT 2 a known message
2 known id, other content | spec/provider: CONTRACT 2 a known id with other content
2 rollback of what was never seen; late bet or win | spec/provider: CONTRACT 2 a rollback before its target
2 rollback twice, of a settled bet, of a rollback; a win of an unknown bet | spec/provider: CONTRACT 2 rollbacks: are made once
2 rollback of a win that is spent | spec/money: 4 negative balance
2 session unknown or over | spec/provider: CONTRACT 2 a bet needs a running session
2 account, exclusion | spec/order: 2.3 a bet | spec/money: 3.2 and CONTRACT 2: open bets and withdrawals
2 limits, funds | spec/limits: 2.9 \${limit}: a bet of exactly the limit | spec/order: 2.3 a bet
2 bonus | spec/money: 4 a bonus from grant to conversion
2 503 TRY_AGAIN | soak/outage: answers TRY_AGAIN at once, and the refused messages succeed
2 a provider that is switched off | spec/money: CONTRACT 2 a provider that is switched off
2 headers, no replay refusal, no rate | spec/provider: CONTRACT 2 credentials are checked
3 each command is refused with exit 1 | spec/commandsRefused: CONTRACT 3 an unknown id | e2e/backofficeCli: prints refusals on standard error
3 each command works, at once | spec/commandsWork: CONTRACT 3 \${commandOf(line)} does what it says | spec/commandsWork: CONTRACT 3 every command has
3 JSON, and a table on a terminal | spec/commandsWork: CONTRACT 3 a terminal gets a table
3 refusals of each command | spec/commandsRefused: CONTRACT 3 an unknown id | spec/commandsRefused: CONTRACT 3 a role without permission | spec/commandsRefused: CONTRACT 3 without a service
3 usage of each command | spec/commandsRefused: CONTRACT 3 unknown, superfluous or missing arguments
3 the audit log | spec/commandsAudit: CONTRACT 3 \${commandOf(line)} leaves one line
3 usage exits 2 | e2e/backofficeCli: prints its usage on standard error
3 rate set, report ggr | spec/4-8-reports: 4.8 and CONTRACT 3: rate set
3 alert holds | e2e/compliance: 7 PLAYER_RESTRICTED: an alert that stops withdrawals`
}

/** Titles of the tests in a file, as written. */
const titlesOf = (file: string): ReadonlyArray<string> => {
  const text = Fs.readFileSync(Path.join(folder, `${file}.test.ts`), "utf8")
  return [...text.matchAll(/\bit(?:\.\w+)?\(\s*(["'`])((?:(?!\1).)+)\1/g)].map(([, , title = ""]) => title)
}

describe("coverage of the specification", () => {
  for (const [name, table] of Object.entries(tables)) {
    it(`${name}: every row of the table names existing tests`, () => {
      const lines = table.trim().split("\n").map((line) => line.split(" | "))
      const lost = lines.flatMap(([rows, ...tests]) => {
        if (tests.length === 0) return [`${rows}: nowhere`]
        const missing = tests.filter((test) => {
          const [file = "", ...title] = test.split(": ")
          return !titlesOf(file).some((other) => other.includes(title.join(": ")))
        })
        return missing.map((test) => `${rows}: ${test}`)
      })
      assert.deepStrictEqual(lost, [])
      const rows = lines.flatMap(([rows = ""]) => rows.split("; "))
      assert.strictEqual(new Set(rows).size, rows.length, "no row twice")
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
