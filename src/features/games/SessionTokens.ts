/**
 * Wallet-session tokens: issued by a launch, and sent with every bet.
 *
 * A token is an encrypted payload with a MAC: verified without a query, unforgeable, and opaque to its holder. An expired token still verifies,
 * since a message settled during the session can be replayed at any time: the caller compares `expiresAt`.
 */
import { Context, Effect, Layer } from "effect"
import * as Crypto from "node:crypto"
import { Settings } from "../../platform/Settings.ts"
import { RecentMap } from "../../platform/RecentMap.ts"
import { type TokenKeys, tokenKeys } from "../../platform/Subkey.ts"

export interface WalletSession {
  readonly sessionId: number
  readonly playerId: number
  readonly operatorId: number
  readonly gameId: number
  readonly providerId: number
  readonly mode: "real" | "demo"
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

const prefix = "gs_"
const version = 1
const payloadBytes = 47
const macBytes = 16
/** 63 bytes are 84 characters of base64url, with none to spare. */
const tokenLength = prefix.length + (payloadBytes + macBytes) / 3 * 4

/** How many tokens that were checked before are remembered: twice this at most. */
const remembered = 50_000

const encode = (session: WalletSession): Buffer => {
  const payload = Buffer.alloc(payloadBytes)
  payload.writeUInt8(version * 2 + (session.mode === "demo" ? 1 : 0), 0)
  payload.writeBigUInt64BE(BigInt(session.sessionId), 1)
  payload.writeBigUInt64BE(BigInt(session.playerId), 9)
  payload.writeBigUInt64BE(BigInt(session.operatorId), 17)
  payload.writeBigUInt64BE(BigInt(session.gameId), 25)
  payload.writeBigUInt64BE(BigInt(session.providerId), 33)
  payload.writeUIntBE(session.expiresAt, 41, 6)
  return payload
}

const decode = (payload: Buffer): WalletSession | undefined => {
  const head = payload.readUInt8(0)
  if (head >> 1 !== version) return undefined
  return {
    mode: (head & 1) === 1 ? "demo" : "real",
    sessionId: Number(payload.readBigUInt64BE(1)),
    playerId: Number(payload.readBigUInt64BE(9)),
    operatorId: Number(payload.readBigUInt64BE(17)),
    gameId: Number(payload.readBigUInt64BE(25)),
    providerId: Number(payload.readBigUInt64BE(33)),
    expiresAt: payload.readUIntBE(41, 6)
  }
}

/**
 * Issues and checks wallet-session tokens. Both are synchronous; a token that was seen lately costs one look into a map.
 *
 *     const token = tokens.issue(session) // "gs_" and 84 characters
 *     const session = tokens.verify(token)
 */
export class SessionTokens extends Context.Service<SessionTokens, {
  readonly issue: (session: WalletSession) => string
  /** The session a token was issued for, over or not; undefined for anything this service did not issue. */
  readonly verify: (token: string) => WalletSession | undefined
}>()("pitboss/games/SessionTokens") {
  static readonly layer = Layer.effect(
    SessionTokens,
    Effect.map(Settings, (settings) => {
      const { current, previous } = tokenKeys(settings, "wallet-session")
      // Kept: verified. Session tokens that were verified. Several nodes: a matter of the key: the same everywhere; whether the session has ended
      // says the player.
      const verified = new RecentMap<string, WalletSession>(remembered)
      const tagOf = (keys: TokenKeys, payload: Buffer): Buffer =>
        Crypto.createHmac("sha256", keys.tag).update(payload).digest().subarray(0, macBytes)

      /** Hides or shows a payload: a stream that its tag determines, so that a provider reads none of our ids in a token. */
      const masked = (keys: TokenKeys, tag: Buffer, payload: Buffer): Buffer => {
        const stream = Buffer.concat(
          [0, 1].map((block) => Crypto.createHmac("sha256", keys.mask).update(tag).update(Buffer.of(block)).digest())
        )
        return Buffer.from(payload.map((byte, index) => byte ^ stream.readUInt8(index)))
      }

      const readUnder = (keys: TokenKeys, bytes: Buffer): WalletSession | undefined => {
        const tag = bytes.subarray(payloadBytes)
        const payload = masked(keys, tag, bytes.subarray(0, payloadBytes))
        return Crypto.timingSafeEqual(tagOf(keys, payload), tag) ? decode(payload) : undefined
      }

      const check = (token: string): WalletSession | undefined => {
        if (token.length !== tokenLength || !token.startsWith(prefix)) return undefined
        const text = token.slice(prefix.length)
        const bytes = Buffer.from(text, "base64url")
        // only the canonical base64url encoding is accepted
        if (bytes.length !== payloadBytes + macBytes || bytes.toString("base64url") !== text) return undefined
        return readUnder(current, bytes) ?? (previous && readUnder(previous, bytes))
      }

      return SessionTokens.of({
        issue: (session) => {
          const payload = encode(session)
          const tag = tagOf(current, payload)
          return prefix + Buffer.concat([masked(current, tag, payload), tag]).toString("base64url")
        },
        verify: (token) => {
          const known = verified.get(token)
          if (known !== undefined) return known
          const session = check(token)
          if (session !== undefined) verified.set(token, session)
          return session
        }
      })
    })
  )
}
