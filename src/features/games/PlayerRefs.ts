/** Player pseudonyms, one per game provider: stable, not linkable across providers, created and read by this service only. */
import { Context, Effect, Layer } from "effect"
import * as Crypto from "node:crypto"
import { SealedSecrets } from "../../auth/SealedSecrets.ts"
import { Settings } from "../../platform/Settings.ts"
import { subkeyBytes } from "../../platform/Subkey.ts"
import { RecentMap } from "../../platform/RecentMap.ts"

const prefix = "pr_"
const tagBytes = 16
/** 24 bytes are 32 characters of base64url, with none to spare. */
const refLength = prefix.length + 32

/** How many refs that were read before are remembered: twice this at most. */
const remembered = 50_000

interface Named {
  readonly providerId: number
  readonly playerId: number
}

/**
 * Makes and reads player refs, synchronously. A ref is a tag over provider and player, then the player's id under a mask that
 * the tag determines: nothing of the id shows, and equal input gives equal text.
 *
 *     const ref = refs.playerRef(providerId, playerId) // "pr_" and 32 characters
 *     const playerId = refs.parse(providerId, ref)
 */
export class PlayerRefs extends Context.Service<PlayerRefs, {
  readonly playerRef: (providerId: number, playerId: number) => string
  /** That of a session's player, kept with the session. */
  readonly refOfSession: (session: Named) => string
  /** The player a provider means; undefined when the ref was not made for this provider. */
  readonly parse: (providerId: number, ref: string) => number | undefined
}>()("pitboss/games/PlayerRefs") {
  static readonly layer = Layer.effect(
    PlayerRefs,
    Effect.gen(function*() {
      const { masterKey } = yield* Settings
      // derived from the first master key and then stored: a provider settles by a ref for ever, also after a key rotation
      const { kept } = yield* SealedSecrets
      const keyOf = (purpose: string) =>
        Effect.map(kept(purpose, subkeyBytes(masterKey, purpose)), (bytes) => Crypto.createSecretKey(bytes))
      const tagKey = yield* keyOf("player-ref-tag")
      const maskKey = yield* keyOf("player-ref-mask")
      // Kept: read, made. Player references that were read and made. Several nodes: a matter of the key: the same everywhere.
      const read = new RecentMap<string, Named>(remembered)
      const made = new WeakMap<Named, string>()

      const tagOf = (providerId: number, playerId: number): Buffer => {
        const input = Buffer.alloc(16)
        input.writeBigUInt64BE(BigInt(providerId), 0)
        input.writeBigUInt64BE(BigInt(playerId), 8)
        return Crypto.createHmac("sha256", tagKey).update(input).digest().subarray(0, tagBytes)
      }
      const maskOf = (tag: Buffer): bigint =>
        Crypto.createHmac("sha256", maskKey).update(tag).digest().readBigUInt64BE(0)

      const parseNew = (providerId: number, ref: string): number | undefined => {
        if (ref.length !== refLength || !ref.startsWith(prefix)) return undefined
        const text = ref.slice(prefix.length)
        const bytes = Buffer.from(text, "base64url")
        if (bytes.length !== tagBytes + 8 || bytes.toString("base64url") !== text) return undefined
        const tag = bytes.subarray(0, tagBytes)
        const playerId = Number(bytes.readBigUInt64BE(tagBytes) ^ maskOf(tag))
        if (!Number.isSafeInteger(playerId)) return undefined
        return Crypto.timingSafeEqual(tagOf(providerId, playerId), tag) ? playerId : undefined
      }

      const playerRef = (providerId: number, playerId: number): string => {
        const tag = tagOf(providerId, playerId)
        const bytes = Buffer.concat([tag, tag.subarray(0, 8)])
        bytes.writeBigUInt64BE(BigInt(playerId) ^ maskOf(tag), tagBytes)
        return prefix + bytes.toString("base64url")
      }

      return PlayerRefs.of({
        playerRef,
        refOfSession: (session) => {
          const known = made.get(session)
          if (known !== undefined) return known
          const ref = playerRef(session.providerId, session.playerId)
          made.set(session, ref)
          return ref
        },
        parse: (providerId, ref) => {
          const known = read.get(ref)
          if (known !== undefined) return known.providerId === providerId ? known.playerId : undefined
          const playerId = parseNew(providerId, ref)
          if (playerId !== undefined) read.set(ref, { providerId, playerId })
          return playerId
        }
      })
    })
  )
}
