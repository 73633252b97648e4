/** Ids that a change takes to be new without a look-up (its claims), and the players of a commit whose claims turn out to be stored already. */
import type { Birth } from "../../domain/state/Birth.ts"
import type { Change } from "../../domain/state/Change.ts"
import type { Knowledge } from "../../domain/state/Decision.ts"
import type { Player } from "../../domain/state/Player.ts"
import { type Query, roundKey } from "../../domain/state/Rounds.ts"
import type { Unit, Verdict } from "../../engine/Machine.ts"

type PlayerUnit = Unit<Player, Change>

/** Query for the ids that a change claims to be new. */
export const claims = (_: Player, change: Change): Query => ({
  providerId: change.transactions[0]?.providerId ?? 0,
  transactionIds: change.transactions.flatMap(({ targetId, transactionId }) =>
    targetId === null ? [transactionId] : [transactionId, targetId]
  ),
  rounds: change.rounds.filter(({ isNew }) => isNew).map(({ round }) => round),
  bonusIds: [],
  externalReference: change.payments.find(({ isNew }) => isNew)?.payment.externalReference ?? null,
  paymentId: null,
  promoCodeId: change.redemptions[0]?.promoCodeId ?? null,
  signature: change.signatures[0]?.signature ?? null,
  seeds: false
})

/** Key of a stored reply in {@link judgeClashes}. */
export const replyKey = ({ key, scope }: { readonly key: string; readonly scope: string }): string => `${scope} ${key}`

/** Name of a birth in {@link judgeClashes}, where the store has a player with one of its unique fields. */
export const birthKey = ({ id }: Pick<Birth, "id">): string => `birth ${id}`

/** Unique fields of a birth, as they are compared. */
export const bornNames = ({ operatorId, texts }: Birth): ReadonlyArray<string> =>
  Object.entries({
    username: texts.username.toLowerCase(),
    email: texts.email,
    phone: texts.phone,
    external_id: texts.external_id
  }).flatMap(([field, value]) => value === null ? [] : [`${field} ${operatorId} ${value}`])

/** True when a claim of a change already exists in the store. */
const isTaken = (change: Change, known: Knowledge, taken: ReadonlySet<string>): boolean =>
  change.transactions.some(({ kind, status, targetId, transactionId }) =>
    isThere(known.transactions.get(transactionId)) ||
    kind === "rollback" && status === "processed" && targetId !== null &&
      known.transactions.get(targetId)?.rolledBack === true
  ) ||
  change.rounds.some(({ isNew, round }) => isNew && isThere(known.rounds.get(roundKey(round.gameId, round.roundId)))) ||
  change.payments.some(({ isNew, payment: { externalReference } }) =>
    isNew && externalReference !== null && isThere(known.payments.get(externalReference))
  ) ||
  change.redemptions.some(({ promoCodeId }) => {
    const standing = known.promoCodes.get(promoCodeId)
    return isThere(standing) && (standing.isUsedUp || standing.isRedeemed)
  }) ||
  change.signatures.some(({ signature }) => isThere(known.signatures.get(signature))) ||
  change.replies.some((reply) => taken.has(replyKey(reply))) ||
  change.birth !== null && taken.has(birthKey(change.birth))

const isThere = <A>(found: A | null | undefined): found is A => found !== null && found !== undefined

/** Unique keys taken by a change; a promo code is one, since its last redemption is available to one player only. */
const keysOf = (unit: PlayerUnit, change: Change): ReadonlyArray<string> => [
  ...change.transactions.flatMap(({ kind, providerId, status, targetId, transactionId, wagered }) => {
    const own = `transaction ${providerId} ${transactionId}`
    return kind === "rollback" && status === "processed" ? [own, `target ${providerId} ${wagered} ${targetId}`] : [own]
  }),
  ...change.rounds.filter(({ isNew }) => isNew).map(({ round }) =>
    `round ${unit.key} ${roundKey(round.gameId, round.roundId)}`
  ),
  ...change.payments.flatMap(({ isNew, payment: { externalReference, operatorId } }) =>
    isNew && externalReference !== null ? [`payment ${operatorId} ${externalReference}`] : []
  ),
  ...change.redemptions.map(({ promoCodeId }) => `promo code ${promoCodeId}`),
  ...change.signatures.map(({ signature }) => `signature ${signature}`),
  ...change.replies.map((reply) => `reply ${replyKey(reply)}`),
  ...change.birth === null ? [] : bornNames(change.birth)
]

/** Verdicts on a clash: `known` has the lookup of the claims of each change of each unit, `taken` the idempotency keys that have an answer, and
 * births whose names another player has. */
export const judgeClashes = (
  units: ReadonlyArray<PlayerUnit>,
  known: ReadonlyArray<ReadonlyArray<Knowledge>>,
  taken: ReadonlySet<string>
): ReadonlyArray<Verdict<Knowledge>> => {
  const claimed = new Set<string>()
  return units.map((unit, place): Verdict<Knowledge> => {
    const said = known[place] ?? []
    const own = unit.changes.flatMap((change) => keysOf(unit, change))
    const isClash = new Set(own).size < own.length ||
      unit.changes.some((change, index) => {
        const about = said[index]
        return about !== undefined && isTaken(change, about, taken)
      })
    if (isClash) return { _tag: "Clash", known: said }
    const isLater = own.some((key) => claimed.has(key))
    for (const key of own) claimed.add(key)
    return isLater ? { _tag: "Later" } : { _tag: "Valid" }
  })
}
