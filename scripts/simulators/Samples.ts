/** Settings that fit both sides, of an operator made up for tests, demonstrations and measurements. */
import * as Crypto from "node:crypto"

type Settings = { readonly [name: string]: unknown }

export interface Sample {
  /** Of the provider. */
  readonly provider: Settings
  /** What only the vendor has, besides. */
  readonly vendor: Settings
}

const pair = () =>
  Crypto.generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" }
  })

const hub88 = (games_url: string, dialect: "hub88" | "caleta"): Sample => {
  const vendor = pair()
  return {
    provider: {
      vendor_public_key: vendor.publicKey,
      private_key: pair().privateKey,
      operator_id: 17,
      sub_partner_id: "main",
      games_url,
      dialect
    },
    vendor: { vendor_private_key: vendor.privateKey }
  }
}

const aggregator = (games_url: string): Sample => ({
  provider: { auth_token: "an-auth-token-of-samples", casino_id: "casino", games_url },
  vendor: {}
})

/** By protocol and, where it has several, by dialect. `gamesUrl`: where the vendor is. */
export const samples: { readonly [name: string]: (gamesUrl: string) => Sample } = {
  hub88: (gamesUrl) => hub88(gamesUrl, "hub88"),
  caleta: (gamesUrl) => hub88(gamesUrl, "caleta"),
  pragmatic: (games_url) => ({
    provider: {
      secret_key: "a-secret-key-of-samples",
      secure_login: "casino_casino",
      provider_id: "PragmaticPlay",
      games_url,
      feed_login: "feed",
      feed_password: "a-feed-password"
    },
    vendor: {}
  }),
  slotegrator: (games_url) => ({
    provider: { merchant_id: "merchant-1", merchant_key: "a-merchant-key-of-samples", games_url },
    vendor: {}
  }),
  a8r: aggregator,
  gcp: aggregator,
  evolution: (games_url) => ({
    provider: { auth_token: "an-auth-token-of-samples", casino_key: "casino", api_token: "an-api-token", games_url },
    vendor: {}
  }),
  spribe: (games_url) => ({
    provider: {
      client_id: "casino",
      secret_key: "a-secret-key-of-samples",
      operator_key: "casino-operator",
      games_url,
      // as behind a gateway, whose path is signed and not ours
      wallet_path: "/callbacks/spribe"
    },
    vendor: {}
  })
}

/** The protocol that a sample is of. */
export const protocolOfSample = (name: string): string => name === "caleta" ? "hub88" : name
