/** CTEs of the commit statement that write hash-chain links. */
import type { Link } from "../../chain/Chain.ts"
import { bytes, insertInto, number, numbers, text } from "./StatementSections.ts"

export const links = insertInto<Link>("chain_links", [
  number("chain_id", ({ chainId }) => chainId),
  number("link", ({ link }) => link),
  bytes("hash", ({ hash }) => Buffer.from(hash, "hex")),
  bytes("tag", ({ tag }) => tag),
  bytes("digests", ({ digests }) => digests),
  text("player_ids", ({ playerIds }) => numbers(playerIds), "bigint[]"),
  text("seqs", ({ seqs }) => numbers(seqs), "bigint[]"),
  text("audit_ids", ({ auditIds }) => numbers(auditIds), "bigint[]")
])
