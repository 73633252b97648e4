/**
 * Which staff accounts one person may control: who made an account, or issued its token, link or password, could sign in as it, and so counts as the same
 * person where two have to approve (`docs/decisions/0021-staff.md`).
 * Accounts are named by their audit log label; instants are epoch milliseconds.
 */

/**
 * Kinds of handed-over access:
 * - `made`: the account itself, with its first token;
 * - `issued`: a token that replaced the one before;
 * - `entrusted`: a password, a used sign-in link, a removed second factor.
 */
export const handoverKinds = ["made", "issued", "entrusted"] as const

export type HandoverKind = (typeof handoverKinds)[number]

/** Proofs of an account at a moment. */
interface Proofs {
  /** Last time a code of the account's own second factor was accepted; null: never. */
  readonly provedAt: number | null
  /** Last time the account replaced its token in a session that had shown the factor; null: never. */
  readonly renewedAt: number | null
}

/** Access to one account that another handed over. Never removed: a later one hides none before it. */
export interface Handover {
  readonly from: string
  readonly to: string
  readonly kind: HandoverKind
  readonly at: number
  /** Proofs of `from` at that moment: what it proves later does not undo what others did as it before. */
  readonly fromProofs: Proofs
}

/** Second factor of an account, of an authenticator or an identity provider. */
export interface AccountFactor extends Proofs {
  /** When it was set up; null: the account has none. Replacing it takes the one before, and counts as the same. */
  readonly since: number | null
}

export interface StaffTrust {
  readonly handovers: ReadonlyArray<Handover>
  readonly factors: ReadonlyMap<string, AccountFactor>
}

/** Handovers from one account to another, in their order. */
export type TrustPath = readonly [Handover, ...ReadonlyArray<Handover>]

/** Reason why two accounts count as one person. */
export type OnePerson =
  | { readonly _tag: "Same" }
  /** One can act as the other. */
  | { readonly _tag: "Path"; readonly path: TrustPath }
  /** A third account, or the bootstrap token, can act as both, and not both have proved a factor since. */
  | { readonly _tag: "CommonMaker"; readonly maker: string }

const isAfter = (at: number | null, other: number): boolean => at !== null && at > other

/**
 * Whether a handover no longer gives access. The factor must be older than the handover, since whoever hands over access to an account
 * without one can set the first one up. Then a password or a link opens nothing once the factor was shown again; a token, which needs no
 * factor, does until its owner replaces it.
 */
const isClosed = ({ at, kind }: Handover, since: number | null, { provedAt, renewedAt }: Proofs): boolean =>
  since !== null && since < at && isAfter(kind === "entrusted" ? provedAt : renewedAt, at)

/** Accounts that can act as `account`, each with the path that leads there; without it itself. `first` decides which handovers to it count. */
const holdersOf = (
  { factors, handovers }: StaffTrust,
  account: string,
  first: (handover: Handover) => boolean = () => true
): ReadonlyMap<string, TrustPath> => {
  const to = Map.groupBy(handovers, (handover) => handover.to)
  const closes = (handover: Handover, later: Handover | undefined): boolean => {
    const factor = factors.get(handover.to)
    if (factor === undefined) return false
    // at the time of what followed from it: proofs that came after that do not take it back
    const proofs = later === undefined || later.at < handover.at ? factor : later.fromProofs
    return isClosed(handover, factor.since, proofs)
  }
  const holders = new Map<string, TrustPath>()
  const taken = new Set<Handover>()
  const paths: Array<TrustPath> = []
  const follow = (holder: string, path: TrustPath | undefined): void => {
    for (const handover of to.get(holder) ?? []) {
      if (taken.has(handover) || handover.from === holder || closes(handover, path?.[0])) continue
      if (path === undefined && !first(handover)) continue
      taken.add(handover)
      const longer: TrustPath = path === undefined ? [handover] : [handover, ...path]
      if (handover.from !== account && !holders.has(handover.from)) holders.set(handover.from, longer)
      paths.push(longer)
    }
  }
  follow(account, undefined)
  for (let path = paths.shift(); path !== undefined; path = paths.shift()) follow(path[0].from, path)
  return holders
}

/** The path by which `from` can act as `to`; undefined: it cannot. */
export const pathBetween = (trust: StaffTrust, from: string, to: string): TrustPath | undefined =>
  holdersOf(trust, to).get(from)

/**
 * Whether two accounts are one person, and by what. Accounts with tokens only that share a maker are two; as soon as either has a
 * second factor, both must have proved one since the maker's last handover.
 */
export const onePerson = (trust: StaffTrust, one: string, other: string): OnePerson | undefined => {
  if (one === other) return { _tag: "Same" }
  const [ofOne, ofOther] = [holdersOf(trust, one), holdersOf(trust, other)]
  const path = ofOther.get(one) ?? ofOne.get(other)
  if (path !== undefined) return { _tag: "Path", path }
  const factors = [one, other].map((account) => trust.factors.get(account))
  if (!factors.some((factor) => factor !== undefined && factor.since !== null)) return undefined
  const isUnproved = (handover: Handover): boolean => {
    const factor = trust.factors.get(handover.to)
    // what an account proves at the millisecond of its making is later
    const since = handover.kind === "made" ? handover.at - 1 : handover.at
    return factor === undefined || factor.since === null || !isAfter(factor.provedAt, since)
  }
  const unproved = [one, other].map((account) => holdersOf(trust, account, isUnproved))
  const maker = [...ofOne.keys()].find((holder) =>
    ofOther.has(holder) && unproved.some((holders) => holders.has(holder))
  )
  return maker === undefined ? undefined : { _tag: "CommonMaker", maker }
}
