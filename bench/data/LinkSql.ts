import { auditLineSql, entryLineSql, noHash } from "../../src/chain/Lines.ts"

/** Entries of a generated link: those of a commit of a busy service. */
const entriesPerLink = 100
const linksPerSeal = 100
/** Pages of the ledger that one statement links: some hundred thousand entries. */
const pagesPerStatement = 4000

/** What a chain is made with. */
export interface LinkOptions {
  readonly chainId: number
  /** Of the tags. */
  readonly key: Uint8Array
  /** Of the ledger's table. */
  readonly pages: number
}

const sha256OfText = (text: string): string => `sha256(convert_to(${text}, 'UTF8'))`

/** The parts of an HMAC-SHA256 (RFC 2104) that are hashed before the message and before the inner hash. */
const pads = (key: Uint8Array): readonly [inner: string, outer: string] => {
  const padded = Buffer.alloc(64)
  padded.set(key)
  const pad = (byte: number): string => Buffer.from(padded.map((value) => value ^ byte)).toString("hex")
  return [pad(0x36), pad(0x5c)]
}

/**
 * Links all rows of a generated casino in the order in which they are stored, and seals the links: one chain, as a service that never
 * stopped would have written it. Requires a superuser, since chains are append-only.
 */
export const linkStatements = ({ chainId, key, pages }: LinkOptions): ReadonlyArray<string> => {
  const [inner, outer] = pads(key)
  const extend = (rows: string): string =>
    `DO $$
    DECLARE
      one record;
      last record;
      hash bytea;
    BEGIN
      SELECT link, encode(l.hash, 'hex') AS hash INTO last FROM chain_links l WHERE chain_id = ${chainId} ORDER BY link DESC LIMIT 1;
      IF last IS NULL THEN
        SELECT 0::bigint AS link, '${noHash}' AS hash INTO last;
      END IF;
      FOR one IN ${rows} LOOP
        hash := ${
      sha256OfText(
        `'["link",${chainId},' || last.link + 1 || ',"' || last.hash || '",[' || one.list || ']]'`
      )
    };
        INSERT INTO chain_links (chain_id, link, hash, tag, digests, player_ids, seqs, audit_ids)
          VALUES (${chainId}, last.link + 1, hash,
            sha256('\\x${outer}'::bytea || sha256('\\x${inner}'::bytea || convert_to(encode(hash, 'hex'), 'UTF8'))),
            one.digests, one.player_ids, one.seqs, one.audit_ids);
        SELECT last.link + 1 AS link, encode(hash, 'hex') AS hash INTO last;
      END LOOP;
    END
    $$`
  const linked = (columns: string, rows: string): string =>
    extend(
      `SELECT string_agg('"' || encode(digest, 'hex') || '"', ',') AS list, string_agg(digest, '') AS digests, ${columns}
      FROM (${rows}) numbered GROUP BY number / ${entriesPerLink} ORDER BY number / ${entriesPerLink}`
    )
  const from = Array.from({ length: Math.ceil(pages / pagesPerStatement) }, (_, index) => index * pagesPerStatement)
  return [
    "TRUNCATE chain_links, chain_seals, chain_seal_heads",
    linked(
      "'{}'::bigint[] AS player_ids, '{}'::bigint[] AS seqs, array_agg(id) AS audit_ids",
      `SELECT id, ${sha256OfText(auditLineSql("a"))} AS digest, row_number() OVER () - 1 AS number FROM audit_log a`
    ),
    ...from.map((page) =>
      linked(
        "array_agg(player_id) AS player_ids, array_agg(seq) AS seqs, '{}'::bigint[] AS audit_ids",
        `SELECT player_id, seq, ${sha256OfText(entryLineSql("e"))} AS digest, row_number() OVER () - 1 AS number
          FROM ledger_entries e WHERE ctid >= '(${page},0)' AND ctid < '(${page + pagesPerStatement},0)'`
      )
    ),
    `DO $$
    DECLARE
      one record;
      last text := '${noHash}';
      micros bigint := (extract(epoch FROM date_trunc('second', now() - interval '1 hour')) * 1000000)::bigint;
      number bigint := 0;
      hash bytea;
    BEGIN
      FOR one IN SELECT link, encode(l.hash, 'hex') AS head FROM chain_links l WHERE chain_id = ${chainId}
          AND (link % ${linksPerSeal} = 0 OR link = (SELECT max(link) FROM chain_links)) ORDER BY link LOOP
        number := number + 1;
        hash := ${
      sha256OfText(
        `'["seal",' || number || ',' || micros + number || ',"' || last || '",[[${chainId},' || one.link || ',"' || one.head || '"]]]'`
      )
    };
        INSERT INTO chain_seals (seal, hash, sealed_at) VALUES (number, hash, to_timestamp(0) + (micros + number) * interval '1 microsecond');
        INSERT INTO chain_seal_heads (chain_id, link, seal, hash) VALUES (${chainId}, one.link, number, decode(one.head, 'hex'));
        last := encode(hash, 'hex');
      END LOOP;
    END
    $$`,
    "VACUUM (ANALYZE) chain_links",
    "VACUUM (ANALYZE) chain_seals",
    "VACUUM (ANALYZE) chain_seal_heads"
  ]
}
