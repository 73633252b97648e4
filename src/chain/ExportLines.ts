/**
 * Export of the hash chain as JSON lines, and its verification without the service (docs/ledger-export.md). Each link (the rows
 * of one commit) and each seal (the heads of the chains at an instant) is exported as exactly the text that was hashed, so that a verifier needs only SHA-256.
 */
import { ChainCheck, type LinkPart, type Part } from "./ChainCheck.ts"
import { erasedLine, erasureAction, hashOf, linkLine, noHash, sealLine } from "./Lines.ts"

const version = 2

/** The first line; the operator is null in an export of all. */
export const headLine = (operatorId: number | undefined): string =>
  JSON.stringify(["pitboss-ledger", version, operatorId ?? null])

/** The last line, which proves that the export is complete. */
export const endLine = (unlinked: ReadonlyArray<string>): string => JSON.stringify(["end", unlinked])

/** Makes the lines of the parts of a walk. */
export class ExportWriter {
  private readonly hashes = new Map<string, string>()
  private lastSeal = noHash

  linesOf(part: Part): string {
    switch (part._tag) {
      case "Link": {
        const line = linkLine(part.chainId, part.link, this.hashes.get(part.chainId) ?? noHash, part.digests)
        this.hashes.set(part.chainId, part.hash)
        return line
      }
      case "Row":
        return part.line === null
          ? JSON.stringify(["missing", part.name, part.playerId])
          : part.values === undefined
          ? part.line
          : `${part.line}\n${part.values}`
      case "Other":
        return "[\"other\"]"
      case "Seal": {
        const line = sealLine(part.seal, part.at, this.lastSeal, part.heads)
        this.lastSeal = part.hash
        return line
      }
    }
  }
}

const isText = (value: unknown): value is string => typeof value === "string"
const isHash = (value: unknown): value is string => isText(value) && /^[0-9a-f]{64}$/.test(value)

/** Whole numbers as text: they may exceed JavaScript's safe integers. */
const numbersOf = (line: string): ReadonlyArray<string> =>
  (/^\["\w+"((?:,-?\d+)+)/.exec(line)?.[1] ?? "").split(",").slice(1)

const headsOf = (value: unknown) =>
  Array.isArray(value)
    ? value.map((head: unknown) => {
      const [chainId, link, hash]: ReadonlyArray<unknown> = Array.isArray(head) ? head : []
      return { chainId: String(chainId), link: String(link), hash: String(hash) }
    })
    : []

/** Result of the verification of an export. */
export interface ExportReport {
  readonly operator_id: number | null
  readonly links: number
  readonly rows: number
  readonly seals: number
  /** The seal with the published hash; null when there is none. */
  readonly seal: number | null
  /** Links up to that seal, proven by the hash. */
  readonly proven_links: number
  readonly violations: ReadonlyArray<{ readonly rule: string; readonly subject: string; readonly message: string }>
}

/** Takes an export line by line. */
export class ExportCheck {
  private readonly check = new ChainCheck()
  private readonly hash: string
  private link: LinkPart | undefined
  private taken = 0
  private operatorId: number | null = null
  private seal: number | null = null
  private provenLinks = 0
  private lineNumber = 0
  /** The audit line whose values come next. */
  private audit: { readonly name: string; readonly playerId: string; readonly digest: unknown } | undefined
  /** The first line of each player whose values were erased, and the players of whom a line says that they were. */
  private readonly erased = new Map<string, string>()
  private readonly erasures = new Set<string>()
  private isBegun = false
  private isEnded = false

  /** `hash`: the published hash of a seal. */
  constructor(hash: string) {
    this.hash = hash.toLowerCase()
  }

  private fail(message: string): void {
    this.check.find("chain_link_broken", `line ${this.lineNumber}`, message)
  }

  /** Reports digests of the previous link without a line. */
  private closeLink(): void {
    const missing = (this.link?.digests.length ?? 0) - this.taken
    if (this.link !== undefined && missing > 0) {
      this.check.find(
        "chain_row_removed",
        `link ${this.link.link} of chain ${this.link.chainId}`,
        `${missing} of its rows are not in the export`
      )
    }
    this.link = undefined
    this.taken = 0
  }

  private takeRow(kind: "entry" | "audit", name: string, playerId: string | null, line: string | null): void {
    const digest = this.link?.digests[this.taken++]
    if (digest === undefined) {
      this.check.find("chain_row_added", name, "is in no link of the chain")
    } else {
      this.check.take({ _tag: "Row", kind, name, playerId, digest, line })
    }
  }

  private takeAudit(line: string, fields: ReadonlyArray<unknown>): void {
    const name = `audit line ${numbersOf(line)[0] ?? ""}`
    this.takeRow("audit", name, null, line)
    const [, , , , action, , player, , digest] = fields
    const playerId = String(player)
    if (action === erasureAction) this.erasures.add(playerId)
    this.audit = { name, playerId, digest }
  }

  private takeValues(line: string): void {
    const { audit } = this
    this.audit = undefined
    if (audit === undefined) return this.fail("follows no audit line")
    if (line === erasedLine) {
      if (!this.erased.has(audit.playerId)) this.erased.set(audit.playerId, audit.name)
    } else if (hashOf(line) !== audit.digest) {
      this.check.find("chain_row_changed", audit.name, "its values are not those that were written")
    }
  }

  take(line: string): void {
    this.lineNumber++
    if (this.isEnded) return this.fail("follows the end line of the export")
    let fields: ReadonlyArray<unknown>
    try {
      const parsed: unknown = JSON.parse(line)
      fields = Array.isArray(parsed) ? parsed : []
    } catch {
      return this.fail("is not JSON")
    }
    const [kind, first, second, third, fourth] = fields
    if (kind === "values" || kind === "erased") return this.takeValues(line)
    if (this.audit !== undefined) {
      this.check.find("chain_values_removed", this.audit.name, "its values are not in the export")
      this.audit = undefined
    }
    if (!this.isBegun) {
      this.isBegun = true
      if (kind !== "pitboss-ledger" || first !== version) {
        return this.fail("is not the head of an export of this version")
      }
      this.operatorId = typeof second === "number" ? second : null
      return
    }
    switch (kind) {
      case "link": {
        this.closeLink()
        const [chainId = "", link = ""] = numbersOf(line)
        const digests = Array.isArray(fourth) ? fourth.filter(isHash) : []
        if (linkLine(chainId, link, String(third), digests) !== line) return this.fail("is not a link")
        this.link = { _tag: "Link", chainId, link, hash: hashOf(line), digests, isTagged: true, isWhole: true }
        return this.check.take(this.link)
      }
      case "entry": {
        const [playerId = "", seq = ""] = numbersOf(line)
        return this.takeRow("entry", `entry ${seq} of player ${playerId}`, playerId, line)
      }
      case "audit":
        return this.takeAudit(line, fields)
      case "missing":
        return this.takeRow("entry", String(first), isText(second) ? second : null, null)
      case "other":
        this.taken++
        return this.operatorId === null
          ? this.fail("leaves out a row, in an export that covers all operators")
          : undefined
      case "seal": {
        this.closeLink()
        const [seal = "", at = ""] = numbersOf(line)
        const heads = headsOf(fourth)
        if (sealLine(seal, at, String(third), heads) !== line) return this.fail("is not a seal")
        const hash = hashOf(line)
        this.check.take({ _tag: "Seal", seal, at, hash, heads })
        if (hash === this.hash && this.seal === null) {
          this.seal = Number(seal)
          this.provenLinks = this.check.links
        }
        return
      }
      case "end": {
        this.closeLink()
        this.isEnded = true
        for (const name of Array.isArray(first) ? first : []) {
          this.check.find("chain_row_added", String(name), "is in no link of the chain")
        }
        return
      }
      default:
        return this.fail("has an unknown kind")
    }
  }

  /** After the last line. */
  report(): ExportReport {
    this.closeLink()
    if (!this.isEnded) this.fail("is the last one: the end of the export is missing")
    for (const [playerId, name] of this.erased) {
      if (!this.erasures.has(playerId)) {
        this.check.find("chain_values_removed", name, "its values are gone, and no line says that they were erased")
      }
    }
    if (this.seal === null) {
      this.check.find(
        "chain_seal_broken",
        "published hash",
        "matches no seal in the export: this is not the history that was sealed"
      )
    }
    return {
      operator_id: this.operatorId,
      links: this.check.links,
      rows: this.check.rows,
      seals: this.check.seals,
      seal: this.seal,
      proven_links: this.provenLinks,
      violations: this.check.findings.map(({ message, rule, subject }) => ({ rule, subject, message }))
    }
  }
}
