/**
 * Player session tokens (SPEC section 5.4), passed by an operator's server to a player's browser or app.
 *
 * A token holds encrypted, authenticated claims: it is checked without a query, cannot be forged, and reveals nothing. Tokens are not stored:
 * validity follows from the key, the player and the time of use.
 */
import { Context, Effect, Layer } from "effect"
import * as Crypto from "node:crypto"
import { issueTokenStep } from "../domain/player/AccountStatus.ts"
import type { AskedRegisters } from "../domain/player/RegisterAdmission.ts"
import type { Refusal } from "../domain/Refusal.ts"
import { Entropy } from "../platform/Entropy.ts"
import { Settings } from "../platform/Settings.ts"
import { type TokenKeys, tokenKeys } from "../platform/Subkey.ts"
import { type ActorRefusal, PlayerActors } from "../store/PlayerActors.ts"

/** Claims of a token. Instants are epoch milliseconds. */
export interface PlayerToken {
  readonly playerId: number
  readonly operatorId: number
  /** Public key id of the issuing key. */
  readonly key: string
  readonly issuedAt: number
  readonly expiresAt: number
}

export interface IssuedToken {
  readonly token: string
  readonly expiresAt: number
}

const prefix = "pt_"
const version = 1
/** Version, player, operator, both instants, and a salt. */
const fixedBytes = 1 + 8 + 8 + 6 + 6 + 4
const tagBytes = 16
const maxKeyBytes = 128
const maxLength = prefix.length + Math.ceil((fixedBytes + maxKeyBytes + tagBytes) / 3) * 4

const encode = (token: PlayerToken, salt: Uint8Array): Buffer => {
  const fixed = Buffer.alloc(fixedBytes)
  fixed.writeUInt8(version, 0)
  fixed.writeBigUInt64BE(BigInt(token.playerId), 1)
  fixed.writeBigUInt64BE(BigInt(token.operatorId), 9)
  fixed.writeUIntBE(token.issuedAt, 17, 6)
  fixed.writeUIntBE(token.expiresAt, 23, 6)
  fixed.set(salt.subarray(0, 4), 29)
  return Buffer.concat([fixed, Buffer.from(token.key, "latin1")])
}

const decode = (payload: Buffer): PlayerToken | undefined =>
  payload.readUInt8(0) !== version ? undefined : {
    playerId: Number(payload.readBigUInt64BE(1)),
    operatorId: Number(payload.readBigUInt64BE(9)),
    issuedAt: payload.readUIntBE(17, 6),
    expiresAt: payload.readUIntBE(23, 6),
    key: payload.toString("latin1", fixedBytes)
  }

/**
 * Issues and reads player session tokens.
 *
 *     const { token } = yield* tokens.issue(operator.id, apiKey.key, playerId, 30) // "pt_…"
 *     const claims = tokens.read(token)
 */
export class PlayerTokens extends Context.Service<PlayerTokens, {
  /** Issues a token; fails when the player may not have one, or when registers have to be asked that were not. */
  readonly issue: (
    operatorId: number,
    key: string,
    playerId: number,
    ttlMinutes: number,
    asked?: AskedRegisters
  ) => Effect.Effect<IssuedToken, Refusal<"PLAYER_RESTRICTED"> | ActorRefusal>
  /** Claims of a token; undefined when not issued by this service. Validity is not checked. */
  readonly read: (token: string) => PlayerToken | undefined
}>()("pitboss/auth/PlayerTokens") {
  static readonly layer = Layer.effect(
    PlayerTokens,
    Effect.gen(function*() {
      const actors = yield* PlayerActors
      const entropy = yield* Entropy
      const { current, previous } = tokenKeys(yield* Settings, "player-session")
      const tagOf = (keys: TokenKeys, payload: Buffer): Buffer =>
        Crypto.createHmac("sha256", keys.tag).update(payload).digest().subarray(0, tagBytes)

      /** Encrypts or decrypts a payload: a stream cipher with the payload's tag as initial counter. */
      const masked = (keys: TokenKeys, tag: Buffer, payload: Buffer): Buffer =>
        Crypto.createCipheriv("aes-256-ctr", keys.mask, tag).update(payload)

      const issue = Effect.fn("PlayerTokens.issue")(
        function*(operatorId: number, key: string, playerId: number, ttlMinutes: number, asked?: AskedRegisters) {
          // decided by the player's actor, to be ordered with a revocation of all sessions
          const issuedAt = yield* actors.ask(operatorId, playerId, issueTokenStep(asked))
          const expiresAt = issuedAt + ttlMinutes * 60_000
          const payload = encode({ playerId, operatorId, key, issuedAt, expiresAt }, entropy.bytes(4))
          const tag = tagOf(current, payload)
          return {
            token: prefix + Buffer.concat([masked(current, tag, payload), tag]).toString("base64url"),
            expiresAt
          }
        }
      )

      const readUnder = (keys: TokenKeys, bytes: Buffer): PlayerToken | undefined => {
        const tag = bytes.subarray(bytes.length - tagBytes)
        const payload = masked(keys, tag, bytes.subarray(0, bytes.length - tagBytes))
        return Crypto.timingSafeEqual(tagOf(keys, payload), tag) ? decode(payload) : undefined
      }

      const read = (token: string): PlayerToken | undefined => {
        if (!token.startsWith(prefix) || token.length > maxLength) return undefined
        const text = token.slice(prefix.length)
        const bytes = Buffer.from(text, "base64url")
        // only the canonical encoding is accepted
        if (bytes.length <= fixedBytes + tagBytes || bytes.toString("base64url") !== text) return undefined
        return readUnder(current, bytes) ?? (previous && readUnder(previous, bytes))
      }

      return PlayerTokens.of({ issue, read })
    })
  )
}
