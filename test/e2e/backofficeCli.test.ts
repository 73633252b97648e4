import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import {
  bootstrapToken,
  command,
  type CommandOptions,
  type CommandOutcome,
  layerBothServers,
  made,
  operatorCall,
  runCommand,
  runHere
} from "../kit/Backoffice.ts"

// Goal: the command line keeps its contract against a running service: what it prints where, and its exit codes. What the service
// does with what it is sent is proved in backofficeApi.test.ts, and every command with its refusals in spec/commands*.test.ts. Method:
// what works runs in this process; a sample of all kinds of ends, and all that is refused here, as processes.

const Envelope = Schema.fromJsonString(Schema.Struct({ error: Schema.Struct({ code: Schema.String }) }))

/** Runs a command that must be refused: exit 1, nothing on standard output, the envelope on standard error. */
const refused = Effect.fnUntraced(function*(args: ReadonlyArray<string>, options: CommandOptions = {}) {
  const { exitCode, stderr, stdout } = yield* runCommand(args, options)
  assert.deepStrictEqual([exitCode, stdout], [1, ""], stderr)
  return Schema.decodeUnknownSync(Envelope)(stderr).error.code
})

/** Runs commands that must not be understood: exit 2, nothing on standard output, the usage on standard error. */
const misunderstood = <R>(
  run: (args: ReadonlyArray<string>) => Effect.Effect<CommandOutcome, never, R>,
  ...commands: ReadonlyArray<string>
) =>
  Effect.forEach(commands, (line) =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* run(line.split(" ").filter((word) => word !== ""))
      assert.deepStrictEqual([exitCode, stdout], [2, ""], line)
      assert.include(stderr, "USAGE", line)
    }))

layer(layerBothServers, { excludeTestServices: true })("the command line", (it) => {
  it.effect("is a process that prints one document and ends with 0", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* runCommand(
        ["operator", "create", "--slug", "sample", "--name", "A Sample", "--currency", "EUR"]
      )
      assert.deepStrictEqual([exitCode, stderr], [0, ""])
      assert.deepInclude(JSON.parse(stdout), { slug: "sample", name: "A Sample", currency: "EUR" })
      const listed = yield* runCommand(["operator", "list"])
      assert.deepInclude(JSON.parse(listed.stdout), JSON.parse(stdout))
    }))

  it.effect("operators and keys", () =>
    Effect.gen(function*() {
      const operator = yield* command(
        ["operator", "create", "--slug", "lucky", "--name", "Lucky", "--currency", "EUR"],
        ["--cooperation-model", "turnkey", "--withdrawal-second-approval-above", "500000"]
      )
      const { created_at, id, updated_at, ...settings } = operator
      assert.deepStrictEqual(settings, {
        slug: "lucky",
        name: "Lucky",
        currency: "EUR",
        cooperation_model: "turnkey",
        active: true,
        cooling_off_hours: 24,
        withdrawal_second_approval_above: 500_000,
        kyc_withdrawal_threshold: null,
        forfeit_bonus_on_withdrawal: true,
        disabled_features: [],
        original_max_stake: 100_000,
        original_max_payout: 10_000_000,
        daily_deposit_cap: null,
        daily_withdrawal_cap: null,
        default_limits: {}
      })
      assert.isNumber(id)
      assert.match(created_at + updated_at, /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z){2}$/)

      const updated = yield* command(
        ["operator", "update", String(id), "--withdrawal-second-approval-above", "none", "--active", "false"],
        ["--kyc-withdrawal-threshold", "200000", "--forfeit-bonus-on-withdrawal", "false"],
        ["--disable-features", "bonuses, reports"]
      )
      assert.deepInclude(updated, {
        name: "Lucky",
        active: false,
        withdrawal_second_approval_above: null,
        kyc_withdrawal_threshold: 200_000,
        forfeit_bonus_on_withdrawal: false,
        disabled_features: ["bonuses", "reports"]
      })
      const restored = yield* command("operator", "update", "lucky", "--disable-features", "none", "--active", "true")
      assert.deepInclude(restored, { active: true, disabled_features: [], kyc_withdrawal_threshold: 200_000 })
      assert.deepInclude(yield* command("operator", "list"), restored)

      const key = yield* command(
        ["key", "create", "--operator", String(id), "--name", "Main", "--scopes", "players:read,games:read"],
        ["--ip", "127.0.0.1,10.0.0.0/8", "--rate-limit", "50", "--expires-at", "2099-01-01T00:00:00Z"]
      )
      assert.deepInclude(key, {
        operator_id: id,
        name: "Main",
        scopes: ["players:read", "games:read"],
        ip_allowlist: ["127.0.0.1", "10.0.0.0/8"],
        rate_limit_per_minute: 50,
        expires_at: "2099-01-01T00:00:00.000Z"
      })
      assert.strictEqual((yield* operatorCall(key, "/api/v1/operator/me")).status, 200)
      const rotated = yield* command("key", "rotate", key.key)
      assert.notStrictEqual(rotated.secret, key.secret)
      assert.strictEqual((yield* operatorCall(rotated, "/api/v1/operator/me")).status, 200)
      const revoked = yield* command("key", "revoke", key.key)
      assert.isString(revoked.revoked_at)
      assert.deepStrictEqual(yield* command("key", "list", "--operator", "lucky"), [revoked])
    }))

  it.effect("providers, games and ways to pay", () =>
    Effect.gen(function*() {
      yield* made("/operators", { slug: "shop", name: "Shop", currency: "EUR" })
      const provider = yield* command(
        ["provider", "create", "--slug", "acme", "--name", "Acme", "--ip", "127.0.0.1"],
        [
          "--launch-url",
          "https://play.example/?t={token}&g={game}&m={mode}",
          "--demo-url",
          "https://play.example/demo"
        ]
      )
      assert.match(provider.key + provider.secret, /^pv_live_\w{24}ps_live_\w{43}$/)
      const off = yield* command("provider", "update", "acme", "--active", "false", "--demo-url", "none")
      const { secret: _, ...shown } = provider
      assert.deepStrictEqual(off, { ...shown, active: false, demo_url: null, updated_at: off.updated_at })
      assert.notStrictEqual((yield* command("provider", "rotate", String(provider.id))).secret, provider.secret)
      assert.strictEqual((yield* command("provider", "list")).length, 1)

      const game = yield* command(
        ["game", "create", "--provider", "acme", "--external-id", "reels-1", "--name", "Reels", "--type", "live"],
        [
          "--category",
          "jackpot",
          "--rtp",
          "96.5",
          "--thumbnail-url",
          "https://img.example/1.png",
          "--original",
          "dice"
        ]
      )
      const { created_at: __, id, updated_at: ___, ...fields } = game
      assert.deepStrictEqual(fields, {
        external_id: "reels-1",
        name: "Reels",
        type: "live",
        category: "jackpot",
        rtp: 96.5,
        thumbnail_url: "https://img.example/1.png",
        is_original: true,
        original: "dice",
        active: true,
        provider: { id: provider.id, slug: "acme", name: "Acme" }
      })
      const changed = yield* command(
        "game",
        "update",
        String(id),
        "--active",
        "false",
        "--original",
        "none",
        "--rtp",
        "90"
      )
      assert.deepInclude(changed, { active: false, is_original: false, rtp: 90, name: "Reels" })
      assert.deepStrictEqual(yield* command("game", "list", "--provider", "acme", "--active", "false"), [changed])

      const method = yield* command(
        [
          "payment-method",
          "create",
          "--operator",
          "shop",
          "--code",
          "card",
          "--name",
          "Card",
          "--currencies",
          "EUR,USD"
        ],
        ["--deposit", "true", "--withdrawal", "false", "--min-deposit", "500", "--max-deposit", "100000"],
        ["--min-withdrawal", "10", "--max-withdrawal", "20"]
      )
      assert.deepInclude(method, {
        code: "card",
        name: "Card",
        currencies: ["EUR", "USD"],
        supports_deposit: true,
        supports_withdrawal: false,
        min_deposit: 500,
        max_deposit: 100_000,
        min_withdrawal: 10,
        max_withdrawal: 20
      })
      const without = yield* command("payment-method", "update", String(method.id), "--active", "false")
      assert.deepStrictEqual(yield* command("payment-method", "list", "--operator", "shop"), [without])
    }))

  it.effect("players, corrections, the audit log and the proof of the ledger", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* made("/operators", { slug: "house", name: "House", currency: "EUR" })
      const key = yield* made("/keys", { operator: "house" })
      const registered = yield* operatorCall(key, "/api/v1/operator/players", {
        username: "ada",
        email: "ada@example.com",
        first_name: "Ada",
        last_name: "Player",
        birth_date: "1990-01-01",
        country: "MT",
        terms_accepted: true
      })
      assert.strictEqual(registered.status, 201)
      const id = String(registered.data.id)
      const shown = yield* command("player", "show", id)
      assert.deepStrictEqual(shown, { operator_id: key.operator_id, ...registered.data })
      assert.deepStrictEqual(yield* command("player", "list", "--operator", "house", "--search", "AD"), [shown])
      assert.deepStrictEqual(yield* command("player", "list", "--operator", "house", "--status", "closed"), [])

      const reviewed = yield* command("player", "kyc", id, "--status", "pending_review", "--reason", "papers came")
      assert.deepInclude(reviewed, { operator_id: key.operator_id, kyc_status: "pending_review" })
      assert.strictEqual(yield* refused(["player", "kyc", id, "--status", "expired"]), "VALIDATION_FAILED")
      const restricted = yield* command(
        ["player", "restrict", id, "--can-login", "false", "--can-deposit", "false", "--can-withdraw", "false"],
        ["--can-bet", "false", "--excluded-from-bonuses", "true"]
      )
      assert.deepStrictEqual(restricted.restrictions, {
        can_login: false,
        can_deposit: false,
        can_withdraw: false,
        can_bet: false,
        excluded_from_bonuses: true
      })
      const freed = yield* command("player", "restrict", id, "--can-bet", "true")
      assert.deepStrictEqual(freed.restrictions, { ...restricted.restrictions, can_bet: true })

      const up = yield* command("player", "correct", id, "--amount", "2500", "--reason", "welcome")
      assert.deepInclude(up, {
        wallet: "real",
        type: "correction_up",
        amount: 2500,
        balance_after: 2500,
        currency: "EUR"
      })
      const down = yield* command("player", "correct", id, "--amount", "-500", "--reason", "fee")
      assert.deepInclude(down, { type: "correction_down", amount: -500, balance_after: 2000 })
      const bonus = yield* command("player", "correct", id, "--wallet", "bonus", "--amount", "100", "--reason", "gift")
      assert.deepInclude(bonus, { wallet: "bonus", type: "bonus_correction_up", balance_after: 100 })
      const wallet = yield* operatorCall(key, `/api/v1/operator/players/${id}/wallet`)
      assert.deepInclude(wallet.data, { balance: 2000, bonus_balance: 100 })

      const trail = yield* command("audit", "list", "--player", id, "--per-page", "2")
      assert.deepStrictEqual(trail.map((line: { readonly reason: string }) => line.reason), ["gift", "fee"])
      assert.deepInclude(trail[1], {
        actor: "staff:bootstrap",
        action: "player.correct",
        player_id: Number(id),
        operator_id: key.operator_id,
        before: { wallet: "real", balance: 2500 },
        after: { wallet: "real", balance: 2000 }
      })

      assert.deepInclude(yield* command("ledger", "verify", "--operator", "house"), {
        players: 1,
        entries: 3,
        violations: []
      })
      yield* sql`UPDATE ledger_entries SET balance_after = balance_after + 1 WHERE id = ${down.id}`
      const broken = yield* runCommand(["ledger", "verify"])
      assert.strictEqual(broken.exitCode, 1)
      const { violations } = JSON.parse(broken.stdout)
      assert.deepInclude(violations[0], { rule: "balance_chain", player_id: Number(id), subject: `entry ${down.id}` })
    }))

  it.effect("acts as who holds the token", () =>
    Effect.gen(function*() {
      const staff = yield* command("staff", "create", "--name", "Sam", "--role", "support")
      assert.deepInclude(staff, { name: "Sam", role: "support", active: true })
      const as = { token: staff.token }
      assert.strictEqual(yield* refused(["staff", "create", "--name", "Eve"], as), "INSUFFICIENT_SCOPE")
      // --token goes before the variable
      const listed = yield* runCommand(["staff", "list", "--token", bootstrapToken, "--json"], as)
      const { last_used_at: _used, token: _, ...account } = staff
      const [{ last_used_at: used, ...only }] = JSON.parse(listed.stdout)
      assert.deepStrictEqual(only, account)
      assert.isString(used)
      yield* command("staff", "update", String(staff.id), "--active", "false")
      assert.strictEqual(yield* refused(["player", "list"], as), "INVALID_API_KEY")

      const dataDir = Fs.mkdtempSync(Path.join(Os.tmpdir(), "pitboss-cli-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => Fs.rmSync(dataDir, { recursive: true })))
      const asNobody = { token: undefined, dataDir }
      assert.strictEqual(yield* refused(["operator", "list"], asNobody), "MISSING_CREDENTIALS")
      Fs.writeFileSync(Path.join(dataDir, "backoffice.token"), `${bootstrapToken}\n`)
      assert.strictEqual((yield* runCommand(["operator", "list"], asNobody)).exitCode, 0)
    }))

  it.effect("says refusals on standard error and exits 1", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* refused(["operator", "update", "nobody", "--name", "x"]), "NOT_FOUND")
      assert.strictEqual(yield* refused(["player", "show", "9007199254740991"]), "NOT_FOUND")
      assert.strictEqual(
        yield* refused(["operator", "create", "--slug", "Bad Slug", "--name", "x", "--currency", "EUR"]),
        "VALIDATION_FAILED"
      )
      assert.strictEqual(
        yield* refused(["operator", "create", "--slug", "money", "--name", "x", "--currency", "XXX"]),
        "VALIDATION_FAILED"
      )
      assert.strictEqual(yield* refused(["operator", "list"], { port: 1 }), "SERVER_ERROR", "nobody answers there")
    }))

  it.effect("says its usage on standard error and exits 2", () =>
    Effect.gen(function*() {
      yield* misunderstood(runCommand, "", "operator", "operator create --slug x --name x", "player show ada")
      yield* misunderstood(
        runHere,
        "operators create",
        "operator make",
        "operator create --slug x --name x --currency",
        "operator create --slug x --name x --currency EUR --colour red",
        "operator update",
        "operator update 1 2 --name x",
        "operator update 1 --active maybe",
        "operator update 1 --kyc-withdrawal-threshold much",
        "operator update 1 --disable-features everything",
        "key create --operator 1 --scopes players:read,all",
        "player correct 1 --amount 1.5 --reason x"
      )
      const help = yield* runCommand(["operator", "create", "--help"])
      assert.deepStrictEqual([help.exitCode, help.stderr], [0, ""])
      assert.include(help.stdout, "--withdrawal-second-approval-above")
    }))
})
