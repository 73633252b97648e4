import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Layer, Path, Redacted } from "effect"
import { commandLineSettings, Settings } from "../../src/platform/Settings.ts"

const key = Buffer.alloc(32, 1).toString("base64")

const environment = (variables: Record<string, string>) => ConfigProvider.layer(ConfigProvider.fromUnknown(variables))

const settingsOf = (variables: Record<string, string>) =>
  Settings.pipe(Effect.provide(Layer.fresh(Settings.layer).pipe(Layer.provide(environment(variables)))))

const refusalOf = (variables: Record<string, string>) =>
  Effect.map(Effect.flip(settingsOf(variables)), (error) => {
    assert.strictEqual(error._tag, "StartupError")
    return error.message
  })

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

layer(NodeServices.layer)("Settings", (it) => {
  // Goal: the documented defaults, and secrets that only their owner can read and that stay the same at the next start.
  // Method: start twice in one empty folder with nothing set; look at the files' modes.
  it.effect("has the documented defaults, and keeps generated secrets across starts", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const dataDir = path.join(yield* temporary, "data")
      const settings = yield* settingsOf({ DATA_DIR: dataDir })
      assert.deepInclude(settings, {
        host: "127.0.0.1",
        port: 8080,
        backofficeHost: "127.0.0.1",
        backofficePort: 8081,
        databaseUrl: undefined,
        dataDir,
        demo: true,
        webhookAllowInsecure: false,
        trustProxy: [],
        playerOrigins: "*",
        logLevel: "Info"
      })
      for (const name of ["master.key", "backoffice.token"]) {
        assert.strictEqual((yield* fs.stat(path.join(dataDir, name))).mode & 0o777, 0o600)
      }
      assert.isFalse((yield* settingsOf({ DATA_DIR: dataDir, HOST: "0.0.0.0" })).demo)
      assert.isTrue((yield* settingsOf({ DATA_DIR: dataDir, HOST: "0.0.0.0", DEMO: "on" })).demo)
      const again = yield* settingsOf({ DATA_DIR: dataDir, PORT: "" })
      assert.deepStrictEqual(Redacted.value(again.masterKey), Redacted.value(settings.masterKey))
      assert.strictEqual(Redacted.value(settings.masterKey).length, 32)
      assert.isDefined(settings.bootstrapToken)
      assert.deepStrictEqual(again.bootstrapToken, settings.bootstrapToken)
      assert.notInclude(JSON.stringify(settings), Buffer.from(Redacted.value(settings.masterKey)).toString("base64"))
    }))

  // Goal: every variable arrives. Method: set each to something other than its default, on an external database.
  it.effect("reads every variable, and writes no file when the database is external", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const dataDir = path.join(yield* temporary, "data")
      const settings = yield* settingsOf({
        HOST: "0.0.0.0",
        PORT: "9000",
        BACKOFFICE_HOST: "::1",
        BACKOFFICE_PORT: "9001",
        DATABASE_URL: "postgres://u:p@db.example/pitboss",
        DATA_DIR: dataDir,
        MASTER_KEY: key,
        MASTER_KEY_PREVIOUS: Buffer.alloc(32, 2).toString("base64"),
        MASTER_KEY_LOST: "on",
        BACKOFFICE_TOKEN: "0123456789abcdef",
        WEBHOOK_ALLOW_INSECURE: "on",
        PROVIDER_ALLOW_INSECURE: "on",
        REGISTER_ALLOW_INSECURE: "on",
        REGISTER_TIMEOUT_MS: "500",
        PUBLIC_URL: "https://api.example",
        TRUST_PROXY: "10.0.0.0/8, 192.0.2.1,2001:db8::/32",
        PLAYER_ORIGINS: "https://casino.example, http://localhost:3000",
        LOG_LEVEL: "debug"
      })
      assert.deepInclude(settings, {
        host: "0.0.0.0",
        port: 9000,
        backofficeHost: "::1",
        backofficePort: 9001,
        demo: false,
        masterKeyLost: true,
        webhookAllowInsecure: true,
        providerAllowInsecure: true,
        registerAllowInsecure: true,
        registerTimeoutMs: 500,
        publicUrl: "https://api.example",
        trustProxy: ["10.0.0.0/8", "192.0.2.1/32", "2001:db8::/32"],
        playerOrigins: ["https://casino.example", "http://localhost:3000"],
        logLevel: "Debug"
      })
      assert.deepStrictEqual(Redacted.value(settings.masterKey), new Uint8Array(32).fill(1))
      const { masterKeyPrevious: previous } = settings
      assert.deepStrictEqual(previous && Redacted.value(previous), new Uint8Array(32).fill(2))
      assert.strictEqual(
        settings.databaseUrl && Redacted.value(settings.databaseUrl),
        "postgres://u:p@db.example/pitboss"
      )
      assert.strictEqual(settings.bootstrapToken && Redacted.value(settings.bootstrapToken), "0123456789abcdef")
      assert.isFalse(yield* fs.exists(dataDir))
    }))

  // Goal: a wrong setting stops the start with one line that names it and does not repeat a secret.
  // Method: one wrong value per variable.
  it.effect("reports an invalid variable by name in one line", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [name: string, value: string]> = [
        ["HOST", "not a host"],
        ["PORT", "http"],
        ["PORT", "65536"],
        ["PORT", "80.5"],
        ["BACKOFFICE_HOST", "a b"],
        ["BACKOFFICE_PORT", "-1"],
        ["DATABASE_URL", "mysql://u:p@h/d"],
        ["DEMO", "yes"],
        ["MASTER_KEY", "c2hvcnQ="],
        ["MASTER_KEY_PREVIOUS", "c2hvcnQ="],
        ["MASTER_KEY_LOST", "yes"],
        ["BACKOFFICE_TOKEN", "short"],
        ["WEBHOOK_ALLOW_INSECURE", "true"],
        ["PROVIDER_ALLOW_INSECURE", "true"],
        ["REGISTER_ALLOW_INSECURE", "true"],
        ["REGISTER_TIMEOUT_MS", "499"],
        ["REGISTER_TIMEOUT_MS", "10001"],
        ["PUBLIC_URL", "https://api.example/"],
        ["TRUST_PROXY", "10.0.0.0/33"],
        ["TRUST_PROXY", "proxy.example"],
        ["PLAYER_ORIGINS", ","],
        ["PLAYER_ORIGINS", "casino.example"],
        ["PLAYER_ORIGINS", "https://casino.example/"],
        ["PLAYER_ORIGINS", "https://Casino.example"],
        ["PLAYER_ORIGINS", "https://casino.example,*"],
        ["PLAYER_ORIGINS", "file://x"],
        ["LOG_LEVEL", "loud"]
      ]
      for (const [name, value] of wrong) {
        const message = yield* refusalOf({ DATA_DIR: yield* temporary, [name]: value })
        assert.match(message, new RegExp(`^${name} must be `), `${name}=${value}`)
        assert.notInclude(message, "\n")
        if (name.startsWith("MASTER_KEY") || name === "DATABASE_URL") assert.notInclude(message, value)
      }
      assert.match(yield* refusalOf({ DATABASE_URL: "postgres://h/d" }), /^MASTER_KEY is required with DATABASE_URL/)
    }))

  // Goal: a spoilt secret file is reported, not replaced: data is encrypted under what it held.
  // Method: a master.key with garbage; it must stop the start and stay as it is.
  it.effect("refuses a malformed master key", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const dataDir = yield* temporary
      const file = path.join(dataDir, "master.key")
      yield* fs.writeFileString(file, "garbage")
      assert.match(
        yield* refusalOf({ DATA_DIR: dataDir }),
        /^DATA_DIR: .*master\.key does not hold a valid secret: restore the file$/
      )
      assert.strictEqual(yield* fs.readFileString(file), "garbage")
    }))

  // Goal: the command line finds the service that was started in the same folder, and a given token wins.
  // Method: generate the token by a start, then ask for the command line's settings with and without one.
  it.effect("gives the command line the service's address and token", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporary
      const nothing = yield* commandLineSettings.pipe(Effect.provide(environment({ DATA_DIR: dataDir })))
      assert.deepStrictEqual(nothing, { url: "http://127.0.0.1:8081", token: undefined })
      const { bootstrapToken } = yield* settingsOf({ DATA_DIR: dataDir })
      const found = yield* commandLineSettings.pipe(Effect.provide(environment({ DATA_DIR: dataDir })))
      assert.deepStrictEqual(found.token, bootstrapToken)
      const given = yield* commandLineSettings.pipe(Effect.provide(environment({
        DATA_DIR: dataDir,
        BACKOFFICE_TOKEN: "0123456789abcdef",
        BACKOFFICE_HOST: "::",
        BACKOFFICE_PORT: "9001"
      })))
      assert.strictEqual(given.url, "http://[::1]:9001")
      assert.strictEqual(given.token && Redacted.value(given.token), "0123456789abcdef")
    }))
})
