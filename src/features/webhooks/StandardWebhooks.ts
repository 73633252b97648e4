/** Signs events by Standard Webhooks 1.0 (https://github.com/standard-webhooks/standard-webhooks), which libraries in many languages verify. */
import * as Crypto from "node:crypto"

const prefix = "whsec_"

/** Bytes of a secret's key. */
export const secretBytes = 32

/** Text of a secret: the prefix and the key in standard base64, with padding. */
export const standardSecret = (key: Uint8Array): string => prefix + Buffer.from(key).toString("base64")

const keyOf = (secret: string): Uint8Array => Buffer.from(secret.slice(prefix.length), "base64")

/** Message as it is signed. */
interface Message {
  /** Id of the event, the same in every delivery. */
  readonly id: string
  /** Unix time of the attempt, in seconds. */
  readonly timestamp: string
  readonly body: string
}

/** Headers of Standard Webhooks: a signature for each secret, separated by spaces. */
export const standardHeaders = ({ body, id, timestamp }: Message, secrets: ReadonlyArray<string>) => {
  const signatureBy = (secret: string) =>
    `v1,${Crypto.createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64")}`
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets.map(signatureBy).join(" ")
  }
}
