/**
 * Verifies the hash chain seal by seal (a seal hashes the last links of all chains, every minute): the links since the previous seal with their rows,
 * then the seal. Keeps one position per chain in memory, whatever the size of the ledger. Used for the tables of a running service and for exports.
 */
import { type Head, hashOf, linkLine, noHash, sealLine } from "./Lines.ts"

/** A row of a link. */
export interface RowPart {
  readonly _tag: "Row"
  readonly kind: "entry" | "audit"
  /** `entry 17/4`, the player's fourth, or `audit line 99`. */
  readonly name: string
  readonly playerId: string | null
  readonly digest: string
  /** The line of the stored row; null where there is none. */
  readonly line: string | null
  /** The line of an audit line's values, or the one in place of them; absent where the line has its values in itself. */
  readonly values?: string
}

export interface LinkPart {
  readonly _tag: "Link"
  readonly chainId: string
  readonly link: string
  readonly hash: string
  readonly digests: ReadonlyArray<string>
  /** False where the tag is not that of the hash. */
  readonly isTagged: boolean
  /** False when its rows and digests differ in number. */
  readonly isWhole: boolean
}

export interface SealPart {
  readonly _tag: "Seal"
  readonly seal: string
  /** Microseconds since 1970. */
  readonly at: string
  readonly hash: string
  readonly heads: ReadonlyArray<Head>
}

/** A row of another operator. */
interface OtherPart {
  readonly _tag: "Other"
}

export type Part = LinkPart | RowPart | OtherPart | SealPart

export type ChainRule =
  | "chain_row_changed"
  | "chain_row_removed"
  | "chain_row_added"
  | "chain_values_removed"
  | "chain_link_broken"
  | "chain_seal_broken"

export interface Finding {
  readonly rule: ChainRule
  readonly playerId: string | null
  readonly subject: string
  readonly message: string
}

/** Maximum of findings per rule. */
const findingsPerRule = 100

interface Position {
  readonly link: bigint
  readonly hash: string
}

const linkName = (chainId: string, link: string): string => `link ${link} of chain ${chainId}`

/** Where a verification begins that goes on from an earlier one: a seal, and the heads of all chains at it. */
export interface ChainStart {
  readonly seal: string
  readonly hash: string
  readonly heads: ReadonlyArray<Head>
}

/** What is said of a seal; `previous` is the number of the seal before it. */
export const sealMessages = {
  otherHash: "its hash is not that of its heads and the seal before it",
  gapAfter: (previous: bigint | string) => `follows seal ${previous}: seals between them were removed`
}

/** Takes the parts one after the other; {@link ChainCheck.findings} is complete after the last. */
export class ChainCheck {
  readonly findings: Array<Finding> = []
  links = 0
  rows = 0
  seals = 0
  /** The hash of the last seal. */
  lastHash = noHash
  lastSeal = 0n
  private readonly positions = new Map<string, Position>()
  private readonly counts = new Map<ChainRule, number>()
  private current = ""

  constructor(start?: ChainStart) {
    if (start === undefined) return
    this.lastSeal = BigInt(start.seal)
    this.lastHash = start.hash
    this.seals = Number(start.seal)
    for (const { chainId, hash, link } of start.heads) {
      this.positions.set(chainId, { link: BigInt(link), hash })
      this.links += Number(link)
    }
  }

  find(rule: ChainRule, subject: string, message: string, playerId: string | null = null): void {
    const count = this.counts.get(rule) ?? 0
    this.counts.set(rule, count + 1)
    if (count < findingsPerRule) this.findings.push({ rule, playerId, subject, message })
  }

  take(part: Part): void {
    switch (part._tag) {
      case "Link":
        return this.takeLink(part)
      case "Row":
        return this.takeRow(part)
      case "Other":
        return
      case "Seal":
        return this.takeSeal(part)
    }
  }

  private takeLink({ chainId, digests, hash, isTagged, isWhole, link }: LinkPart): void {
    this.links++
    const before = this.positions.get(chainId) ?? { link: 0n, hash: noHash }
    const number = BigInt(link)
    this.current = linkName(chainId, link)
    if (number !== before.link + 1n) {
      this.find("chain_link_broken", this.current, `follows link ${before.link}: links between them were removed`)
    } else if (hashOf(linkLine(chainId, link, before.hash, digests)) !== hash) {
      this.find("chain_link_broken", this.current, "its hash is not that of its rows and the link before it")
    }
    if (!isTagged) this.find("chain_link_broken", this.current, "its tag is not one of this service's")
    if (!isWhole) this.find("chain_link_broken", this.current, "it does not name as many rows as it has digests")
    this.positions.set(chainId, { link: number, hash })
  }

  private takeRow({ digest, line, name, playerId }: RowPart): void {
    this.rows++
    if (line === null) {
      this.find("chain_row_removed", name, `was written by ${this.current} and is gone`, playerId)
    } else if (hashOf(line) !== digest) {
      this.find("chain_row_changed", name, `is not as it was written by ${this.current}`, playerId)
    }
  }

  private takeSeal({ at, hash, heads, seal }: SealPart): void {
    this.seals++
    const number = BigInt(seal)
    const subject = `seal ${seal}`
    if (number !== this.lastSeal + 1n) {
      this.find("chain_seal_broken", subject, sealMessages.gapAfter(this.lastSeal))
    } else if (hashOf(sealLine(seal, at, this.lastHash, heads)) !== hash) {
      this.find("chain_seal_broken", subject, sealMessages.otherHash)
    }
    for (const head of heads) {
      const position = this.positions.get(head.chainId)
      if (position?.link !== BigInt(head.link) || position.hash !== head.hash) {
        this.find("chain_seal_broken", subject, `does not fit ${linkName(head.chainId, head.link)}`)
      }
    }
    this.lastSeal = number
    this.lastHash = hash
  }
}
