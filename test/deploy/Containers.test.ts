import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Schema } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { parseAllDocuments } from "yaml"
import { givenSettings } from "../../src/platform/Settings.ts"

// Goal: the container and the manifests fit the service: settings, ports, addresses, user, folders and the time of a drain. Method: both are read, and what
// they say is compared with the sources; the settings of a node are loaded. No cluster is needed, so that Kubernetes's own validation is not part of it.

const root = Path.join(import.meta.dirname, "..", "..")
const read = (file: string): string => Fs.readFileSync(Path.join(root, file), "utf8")

const containerfile = read("Containerfile").replaceAll("\\\n", " ").split("\n").filter((line) => /^[A-Z]/.test(line))
/** Arguments of an instruction of the last stage, each time it is given. */
const last = containerfile.slice(containerfile.findLastIndex((line) => line.startsWith("FROM ")))
const given = (instruction: string): ReadonlyArray<string> =>
  last.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1))

const settingNames = new Set(
  [...read("src/platform/Settings.ts").matchAll(/\bread\(\s*"([A-Z_]+)"/g)].map(([, name = ""]) => name)
)

const Probe = Schema.Struct({
  httpGet: Schema.Struct({ path: Schema.String, port: Schema.String })
})
const Labels = Schema.Struct({ app: Schema.Literal("pitboss") })
const Variable = Schema.Struct({
  name: Schema.String,
  value: Schema.optional(Schema.String),
  valueFrom: Schema.optional(Schema.Struct({
    fieldRef: Schema.optional(Schema.Struct({ fieldPath: Schema.String })),
    secretKeyRef: Schema.optional(Schema.Struct({ name: Schema.String, key: Schema.String }))
  }))
})
const Nodes = Schema.Struct({
  spec: Schema.Struct({
    replicas: Schema.Number,
    serviceName: Schema.String,
    selector: Schema.Struct({ matchLabels: Labels }),
    template: Schema.Struct({
      metadata: Schema.Struct({ labels: Labels }),
      spec: Schema.Struct({
        terminationGracePeriodSeconds: Schema.Number,
        securityContext: Schema.Struct({
          runAsNonRoot: Schema.Literal(true),
          runAsUser: Schema.Number,
          runAsGroup: Schema.Number
        }),
        containers: Schema.Tuple([Schema.Struct({
          ports: Schema.Array(Schema.Struct({ name: Schema.String, containerPort: Schema.Number })),
          env: Schema.Array(Variable),
          startupProbe: Probe,
          livenessProbe: Probe,
          readinessProbe: Probe,
          lifecycle: Schema.Struct({
            preStop: Schema.Struct({
              exec: Schema.Struct({ command: Schema.Tuple([Schema.Literal("sleep"), Schema.String]) })
            })
          }),
          resources: Schema.Struct({ limits: Schema.Struct({ memory: Schema.String }) }),
          securityContext: Schema.Struct({
            allowPrivilegeEscalation: Schema.Literal(false),
            readOnlyRootFilesystem: Schema.Literal(true),
            capabilities: Schema.Struct({ drop: Schema.Tuple([Schema.Literal("ALL")]) })
          }),
          volumeMounts: Schema.Array(Schema.Struct({ name: Schema.String, mountPath: Schema.String }))
        })])
      })
    })
  })
})
const Service = Schema.Struct({
  metadata: Schema.Struct({ name: Schema.String }),
  spec: Schema.Struct({
    clusterIP: Schema.optional(Schema.Literal("None")),
    publishNotReadyAddresses: Schema.optional(Schema.Boolean),
    selector: Labels,
    ports: Schema.Array(Schema.Struct({ targetPort: Schema.String }))
  })
})
const Budget = Schema.Struct({
  spec: Schema.Struct({ maxUnavailable: Schema.Literal(1), selector: Schema.Struct({ matchLabels: Labels }) })
})

const folder = Path.join(root, "scripts", "deploy", "kubernetes")
const Kind = Schema.Struct({ kind: Schema.String })
const objects = Fs.readdirSync(folder).flatMap((file) =>
  parseAllDocuments(Fs.readFileSync(Path.join(folder, file), "utf8")).map((document) => {
    assert.lengthOf([...document.errors, ...document.warnings], 0)
    const object: unknown = document.toJS()
    return { object, kind: Schema.decodeUnknownSync(Kind)(object).kind }
  })
)
const ofKind = <A>(kind: string, schema: Schema.Codec<A, unknown>): ReadonlyArray<A> =>
  objects.filter((one) => one.kind === kind).map(({ object }) => Schema.decodeUnknownSync(schema)(object))

const nodes = ofKind("StatefulSet", Nodes)[0] ?? assert.fail("no nodes")
const { template } = nodes.spec
const [container] = template.spec.containers
const services = ofKind("Service", Service)

/** Longest time from SIGTERM to the end of the process. */
const drainSeconds = Number(/\blayerHardStop\((\d+)\)/.exec(read("src/runService.ts"))?.[1]) / 1000

const environment = (secrets: { readonly [name: string]: string }): Record<string, string> =>
  Object.fromEntries(
    container.env.flatMap(({ name, value, valueFrom }) => {
      const known = valueFrom?.secretKeyRef === undefined ? value : secrets[valueFrom.secretKeyRef.key]
      return known === undefined
        ? []
        : [[name, known.replaceAll("$(POD_NAME)", "pitboss-0").replaceAll("$(NAMESPACE)", "casino")]]
    })
  )

describe("the container", () => {
  it("is built from existing files, and runs without a shell, as an unprivileged user and with one volume", () => {
    const [image] = given("FROM")
    assert.strictEqual(image, "${BASE}")
    const copied = containerfile.filter((line) => /^COPY (?!--from)/.test(line))
      .flatMap((line) => line.split(" ").slice(1, -1))
    assert.deepStrictEqual(copied.filter((file) => !Fs.existsSync(Path.join(root, file))), [])
    const flags = /node (--\S+ --\S+ src\/main\.ts)/.exec(read("package.json"))?.[1]?.split(" ")
    assert.deepStrictEqual(given("CMD").map((text): unknown => JSON.parse(text)), [["node", ...flags ?? []]])
    assert.deepStrictEqual(given("USER"), ["10001:10001"])
    assert.deepStrictEqual(given("VOLUME"), ["/data"])
    const variables = given("ENV").flatMap((text) => [...text.matchAll(/(\w+)=/g)].map(([, name = ""]) => name))
    assert.deepStrictEqual(variables.filter((name) => !settingNames.has(name)), ["PATH"])
    assert.deepStrictEqual(given("EXPOSE"), ["8080 8081"])
  })
})

describe("the Kubernetes manifests", () => {
  it("set only settings that the service accepts, and secrets only by reference", async () => {
    const own = container.env.filter(({ valueFrom }) => valueFrom?.fieldRef === undefined)
    assert.deepStrictEqual(own.map(({ name }) => name).filter((name) => !settingNames.has(name)), [])
    assert.deepStrictEqual(
      own.filter(({ valueFrom }) => valueFrom?.secretKeyRef !== undefined).map(({ name }) => name),
      ["DATABASE_URL", "DATABASE_OWNER_URL", "MASTER_KEY", "BACKOFFICE_TOKEN"]
    )
    const database = "postgres://pitboss:secret@db.internal/pitboss?sslmode=require"
    const settings = await givenSettings.pipe(
      Effect.provide([
        ConfigProvider.layer(ConfigProvider.fromUnknown(environment({
          DATABASE_URL: database,
          DATABASE_OWNER_URL: database,
          MASTER_KEY: Buffer.alloc(32).toString("base64"),
          BACKOFFICE_TOKEN: "0123456789abcdef"
        }))),
        NodeServices.layer
      ]),
      Effect.runPromise
    )
    assert.isTrue(settings.cluster)
    assert.strictEqual(settings.clusterHost, `pitboss-0.${nodes.spec.serviceName}.casino.svc.cluster.local`)
    const folders = container.volumeMounts.map(({ mountPath }) => mountPath)
    assert.include(folders, settings.dataDir)
    for (const file of settings.clusterTls ?? []) assert.include(folders, Path.dirname(file))
    assert.deepStrictEqual(
      container.ports.map(({ containerPort, name }) => [name, containerPort]),
      [["public", settings.port], ["backoffice", settings.backofficePort], ["nodes", settings.clusterPort]]
    )
    assert.deepStrictEqual(folders.slice(0, 1), given("VOLUME"))
    const { runAsGroup, runAsUser } = template.spec.securityContext
    assert.deepStrictEqual(given("USER"), [`${runAsUser}:${runAsGroup}`])
  })

  it("probe liveness and readiness at the service's paths", () => {
    const health = read("src/http/Health.ts")
    for (const { path, port } of [container.startupProbe, container.livenessProbe].map(({ httpGet }) => httpGet)) {
      assert.deepStrictEqual({ path, port }, { path: "/health/live", port: "public" })
    }
    assert.deepStrictEqual(container.readinessProbe.httpGet, { path: "/health/ready", port: "public" })
    for (const path of ["/health/live", "/health/ready"]) assert.include(health, `"GET", "${path}"`)
  })

  it("leave a node time to drain, and allow one disruption at a time", () => {
    const [, pause] = container.lifecycle.preStop.exec.command
    assert.isAbove(drainSeconds, 0)
    assert.isAbove(template.spec.terminationGracePeriodSeconds, Number(pause) + drainSeconds)
    assert.isAbove(nodes.spec.replicas, 1)
    assert.lengthOf(ofKind("PodDisruptionBudget", Budget), 1)
  })

  it("have services for existing ports, and publish node names before the nodes are ready", () => {
    const ports = new Set(container.ports.map(({ name }) => name))
    for (const { metadata, spec } of services) {
      for (const { targetPort } of spec.ports) assert.isTrue(ports.has(targetPort), `${metadata.name} ${targetPort}`)
    }
    const headless = services.find(({ metadata }) => metadata.name === nodes.spec.serviceName)
    assert.deepInclude(headless?.spec, { clusterIP: "None", publishNotReadyAddresses: true })
  })
})
