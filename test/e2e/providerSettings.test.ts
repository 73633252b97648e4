import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { ProviderProtocols } from "../../src/features/integrations/ProviderSettings.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { ProviderCallLog } from "../../src/features/integrations/ProviderCallLog.ts"
import { command, layerBothServers, runHere } from "../kit/Backoffice.ts"
import { BothServers, made, staffCall } from "../kit/Casino.ts"
import { bareProtocol, fakeProtocol } from "../kit/FakeVendor.ts"

// Goal: the settings of a vendor's protocol are validated field by field, replaced by name, and their secrets are never returned. Method: the
// command line and the staff API over a protocol of the test's own; the database, the audit log and all logs are searched for the secret.

const live = layerBothServers.pipe(
  Layer.provide(Layer.succeed(ProviderProtocols, [fakeProtocol, bareProtocol]))
)

const secret = "5ecret-of-the-vendor"
const settings = { games_url: "https://games.example/api", api_key: secret, partner: "one" }

/** A JSON file, until the scope closes. */
const fileOf = (content: unknown) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "pitboss-settings-"))),
      (folder) => Effect.sync(() => Fs.rmSync(folder, { recursive: true }))
    ),
    (folder) => {
      const file = Path.join(folder, "settings.json")
      Fs.writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content))
      return file
    }
  )

/** Fields of the refusal of a creation. */
const wrongIn = Effect.fnUntraced(function*(body: { readonly [field: string]: unknown }) {
  const answer = yield* staffCall("POST", "/backoffice/v1/providers", { slug: "never-made", name: "Never", ...body })
  assert.deepStrictEqual([answer.status, answer.code], [422, "VALIDATION_FAILED"], answer.text)
  return answer.details
})

layer(live, { excludeTestServices: true })("provider protocol settings", (it) => {
  it.effect("are stored, secret ones encrypted and never shown", () =>
    Effect.scoped(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { logged } = yield* BothServers
      const { host, port } = yield* Settings
      const file = yield* fileOf(settings)
      const created = yield* command(
        "provider",
        "create",
        "--slug",
        "acme",
        "--name",
        "Acme",
        "--protocol",
        "fake",
        "--settings",
        file
      )
      const shownSettings = { games_url: settings.games_url, partner: "one" }
      assert.deepInclude(created, { protocol: "fake", settings: shownSettings, sync_hours: 24 })
      const shown = yield* command("provider", "show", "acme")
      assert.deepInclude(shown, {
        settings: shownSettings,
        secret_settings: ["api_key"],
        wallet_address: `http://${host}:${port}/api/v1/integrations/acme`,
        last_called_at: null,
        refusals: {}
      })

      // another path of the same host is the same vendor; another host or scheme gets no secret that was given for the first one
      const { origin } = new URL(settings.games_url)
      const elsewhere = yield* fileOf({ games_url: `${origin}.example/v2` })
      const told = yield* runHere(["provider", "update", "acme", "--settings", elsewhere])
      assert.deepInclude(JSON.parse(told.stderr).error, {
        code: "VALIDATION_FAILED",
        details: { "settings.api_key": ["must be given again when the address changes"] }
      })
      const samePath = yield* fileOf({ games_url: `${origin}/v3` })
      yield* command("provider", "update", "acme", "--settings", samePath)
      const moved = yield* fileOf({ games_url: "https://games.example/v2", partner: null, api_key: secret })
      yield* command("provider", "update", "acme", "--settings", moved, "--sync-hours", "0")
      assert.deepInclude(yield* command("provider", "show", "acme"), {
        settings: { games_url: "https://games.example/v2" },
        secret_settings: ["api_key"],
        sync_hours: 0
      })
      const renewed = yield* fileOf({ api_key: `${secret}-2` })
      yield* command("provider", "update", "acme", "--settings", renewed)
      const [line] = yield* command("audit", "list", "--action", "provider.update")
      assert.deepStrictEqual(line.after.secrets_set, ["api_key"])

      const everything = [
        yield* command("provider", "list"),
        yield* command("audit", "list"),
        yield* sql`SELECT p::text AS row FROM providers p`,
        logged
      ]
      assert.notInclude(JSON.stringify(everything), secret)
    })))

  it.effect("are validated field by field", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* wrongIn({ protocol: "fake" }), {
        "settings.games_url": ["is required"],
        "settings.api_key": ["is required"]
      })
      assert.deepStrictEqual(
        yield* wrongIn({
          protocol: "fake",
          settings: { games_url: "ftp://games.example", api_key: "short", partner: "three", apikey: secret }
        }),
        {
          "settings.games_url": ["must be an https address"],
          "settings.api_key": ["must have at least 8 characters"],
          "settings.partner": ["must be one or two"],
          "settings.apikey": ["is not known"]
        }
      )
      assert.deepStrictEqual(yield* wrongIn({ protocol: "morse" }), {
        protocol: ["must be one of: pitboss, fake, bare"]
      })
      assert.deepStrictEqual(yield* wrongIn({ settings: { partner: "one" } }), {
        settings: ["must be left out: the protocol pitboss has none"]
      })
      const provider = yield* made("/providers", {
        slug: "bare",
        name: "Bare",
        protocol: "bare",
        settings: { games_url: "https://x.example" }
      })
      const update = (body: object) => staffCall("PATCH", `/backoffice/v1/providers/${provider.id}`, body)
      assert.deepStrictEqual((yield* update({ protocol: "fake" })).details, {
        protocol: ["cannot be changed: make another provider"]
      })
      assert.deepStrictEqual((yield* update({ settings: { games_url: null } })).details, {
        "settings.games_url": ["is required"]
      })
      assert.strictEqual((yield* update({ protocol: "bare", name: "Barer" })).status, 200)
    }))

  it.effect("are read by the command line from a file that holds a JSON object; for any other file it exits with 2", () =>
    Effect.scoped(Effect.gen(function*() {
      for (const file of [yield* fileOf("{"), yield* fileOf("[1]"), "no-such-file.json"]) {
        const { exitCode, stderr } = yield* runHere(
          ["provider", "create", "--slug", "never", "--name", "Never", "--protocol", "fake", "--settings", file]
        )
        assert.strictEqual(exitCode, 2)
        assert.include(stderr, "a file with a JSON object")
      }
    })))

  it.effect("are shown together with the vendor's recent calls and its count of refusals", () =>
    Effect.gen(function*() {
      const log = yield* ProviderCallLog
      const { id } = yield* made("/providers", { slug: "busy", name: "Busy" })
      const call = {
        method: "bet",
        player: "pr_1",
        transaction: null,
        round: "r",
        amount: "1.50",
        status: 200,
        latencyMs: 3
      }
      for (let at = 0; at < 502; at++) log.note(id, { ...call, at, refusal: at < 500 ? null : "LIMIT_EXCEEDED" })
      log.note(id, { ...call, at: 600, refusal: "form", status: 400 })
      const calls = yield* command("provider", "calls", "busy")
      assert.strictEqual(calls.length, 500)
      assert.deepStrictEqual(calls[0], {
        at: new Date(600).toISOString(),
        method: "bet",
        player: "pr_1",
        transaction_id: null,
        round: "r",
        amount: "1.50",
        answer: 400,
        refusal: "form",
        latency_ms: 3
      })
      assert.strictEqual(calls[499].at, new Date(3).toISOString())
      assert.deepInclude(yield* command("provider", "show", "busy"), {
        last_called_at: new Date(600).toISOString(),
        refusals: { LIMIT_EXCEEDED: 2, form: 1 }
      })
    }))
})
