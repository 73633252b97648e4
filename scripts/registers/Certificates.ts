/** Certificates of an authority of their own, new at each start: none is in the repository, and none outlives the process. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto"

/** One DER element: tag, length and content. */
const element = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const body = Buffer.concat(parts)
  const length = body.length < 128
    ? Buffer.of(body.length)
    : body.length < 256
    ? Buffer.of(0x81, body.length)
    : Buffer.of(0x82, body.length >> 8, body.length & 0xff)
  return Buffer.concat([Buffer.of(tag), length, body])
}
const sequence = (...parts: ReadonlyArray<Uint8Array>) => element(0x30, ...parts)
const bytes = (hex: string) => Buffer.from(hex, "hex")

const ecdsaWithSha256 = sequence(element(0x06, bytes("2a8648ce3d040302")))
const nameOf = (text: string) =>
  sequence(element(0x31, sequence(element(0x06, bytes("550403")), element(0x0c, Buffer.from(text)))))
/** An extension that has to be understood. */
const extension = (id: string, value: Uint8Array) =>
  sequence(element(0x06, bytes(id)), element(0x01, Buffer.of(0xff)), element(0x04, value))
/** Good at any time of this century. */
const validity = sequence(...["20000101000000Z", "20991231000000Z"].map((time) => element(0x18, Buffer.from(time))))

interface Party {
  readonly name: string
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const makeParty = (name: string): Party => ({ name, ...generateKeyPairSync("ec", { namedCurve: "P-256" }) })

const certify = (subject: Party, issuer: Party, ...extensions: ReadonlyArray<Uint8Array>): string => {
  const about = sequence(
    element(0xa0, element(0x02, Buffer.of(2))),
    element(0x02, Buffer.of(1)),
    ecdsaWithSha256,
    nameOf(issuer.name),
    validity,
    nameOf(subject.name),
    subject.publicKey.export({ type: "spki", format: "der" }),
    element(0xa3, sequence(...extensions))
  )
  const signature = element(0x03, Buffer.of(0), sign("sha256", about, issuer.privateKey))
  const encoded = sequence(about, ecdsaWithSha256, signature).toString("base64")
  return `-----BEGIN CERTIFICATE-----\n${encoded.replaceAll(/.{64}(?=.)/g, "$&\n")}\n-----END CERTIFICATE-----\n`
}

/** A certificate authority, with a function that issues certificate and key of a party at an IPv4 address; all PEM. */
export const makeAuthority = (name: string) => {
  const authority = makeParty(name)
  return {
    certificate: certify(authority, authority, extension("551d13", sequence(element(0x01, Buffer.of(0xff))))),
    issue: (host: string) => {
      const party = makeParty(`party at ${host}`)
      const address = sequence(element(0x87, Buffer.from(host.split(".").map(Number))))
      return {
        certificate: certify(party, authority, extension("551d11", address)),
        key: party.privateKey.export({ type: "pkcs8", format: "pem" }).toString()
      }
    }
  }
}
