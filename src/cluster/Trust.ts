/**
 * Trust between nodes. A connection is TLS from its first byte. Without certificates, both ends prove that they know the master key (a pre-shared
 * key, TLS 1.2 with an ephemeral exchange). With certificates, both ends are verified by the cluster's authority, and prove inside the connection
 * that they know the master key.
 */
import { Effect, FileSystem, Metric, type Redacted } from "effect"
import * as Crypto from "node:crypto"
import type * as Tls from "node:tls"
import { registerGauge } from "../platform/Metrics.ts"
import { Settings } from "../platform/Settings.ts"
import { StartupError } from "../platform/StartupError.ts"
import { subkeyBytes } from "../platform/Subkey.ts"

export interface Trust {
  readonly server: Tls.TlsOptions
  readonly client: Tls.ConnectionOptions
  /** Proofs of this node's keys, sent inside the connection. */
  readonly proofs: ReadonlyArray<string>
  /** Whether one of a peer's proofs belongs to a key known to this node. */
  readonly isProof: (proofs: ReadonlyArray<string>) => boolean
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/** Forward secrecy, and fast without special processor instructions. */
const ciphers = "ECDHE-PSK-CHACHA20-POLY1305"

interface Key {
  /** Identifies the key and reveals nothing of it. */
  readonly name: string
  readonly secret: Buffer
}

const keyOf = (masterKey: Redacted.Redacted<Uint8Array>): Key => ({
  name: hexOf(subkeyBytes(masterKey, "cluster key name")).slice(0, 16),
  secret: Buffer.from(subkeyBytes(masterKey, "cluster connection"))
})

/** During a master key rotation, nodes with the new key and nodes with the old one find the key they share. */
const preShared = (current: Key, keys: ReadonlyArray<Key>): Pick<Trust, "server" | "client"> => {
  const common = { ciphers, minVersion: "TLSv1.2", maxVersion: "TLSv1.2" } as const
  return {
    server: {
      ...common,
      pskIdentityHint: current.name,
      pskCallback: (_, identity) => keys.find(({ name }) => name === identity)?.secret ?? null
    },
    client: {
      ...common,
      pskCallback: (hint) => {
        const { name, secret } = keys.find(({ name }) => name === hint) ?? current
        return { identity: name, psk: secret }
      },
      checkServerIdentity: () => undefined
    }
  }
}

const certificateExpiry = Metric.gauge("cluster_certificate_expiry_timestamp_seconds", {
  description: "End of the node's certificate for other nodes, Unix time"
})

const certified = (files: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const [cert, key, ca] = yield* Effect.forEach(files, (file) =>
      Effect.mapError(
        fs.readFileString(file),
        () => new StartupError({ message: `CLUSTER_TLS: ${file} cannot be read` })
      ))
    const expiresAt = yield* Effect.try({
      try: () => new Crypto.X509Certificate(cert ?? "").validToDate.getTime(),
      catch: () => new StartupError({ message: `CLUSTER_TLS: ${files[0]} is not a certificate` })
    })
    yield* registerGauge(certificateExpiry, () => expiresAt / 1000)
    const common = { cert, key, ca, minVersion: "TLSv1.3" } as const
    return { server: { ...common, requestCert: true, rejectUnauthorized: true }, client: common }
  })

export const makeTrust = Effect.gen(function*() {
  const { clusterTls, masterKey, masterKeyPrevious } = yield* Settings
  const known = [masterKey, ...masterKeyPrevious === undefined ? [] : [masterKeyPrevious]]
  const proofs = known.map((key) => hexOf(subkeyBytes(key, "cluster proof")))
  const hashes = proofs.map((proof) => Crypto.createHash("sha256").update(proof).digest())
  const trust: Trust = {
    ...clusterTls === undefined || clusterTls === "off"
      ? preShared(keyOf(masterKey), known.map(keyOf))
      : yield* certified(clusterTls),
    proofs,
    isProof: (given) =>
      given.some((proof) => {
        const hash = Crypto.createHash("sha256").update(proof).digest()
        return hashes.some((known) => Crypto.timingSafeEqual(hash, known))
      })
  }
  return trust
})
