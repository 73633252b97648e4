/**
 * Limits on a JSON text, checked on its bytes before parsing: decoding a name or an element costs a hundred times as much as sending it, on
 * the thread that decides bets.
 */

/** Smaller texts are not scanned for the general limits. */
const unscannedBytes = 2048

/** Maximum number of names, elements and scalar values. The largest legitimate body, a batch of a hundred actions, has some 1300. */
export const maxJsonValues = 4096

export const maxJsonDepth = 32

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openingBracket = 0x5b
const closingBracket = 0x5d
const openingBrace = 0x7b
const closingBrace = 0x7d

/**
 * True for a text with too many values or too much nesting, at the first one too many: one pass, without decoding. Malformed JSON is not detected,
 * or reported the same.
 */
export const isOverfull = (text: Uint8Array, maxValues = maxJsonValues): boolean => {
  if (text.length <= unscannedBytes && maxValues === maxJsonValues) return false
  let depth = 0
  let values = 0
  let isInText = false
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]
    if (isInText) {
      if (byte === backslash) at++
      else if (byte === quote) isInText = false
    } else if (byte === quote) {
      isInText = true
    } else if (byte === comma || byte === colon) {
      if (++values > maxValues) return true
    } else if (byte === openingBracket || byte === openingBrace) {
      if (++depth > maxJsonDepth) return true
    } else if (byte === closingBracket || byte === closingBrace) {
      depth--
    }
  }
  return false
}
