/** Files of the database, copied while it runs. */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import { dirname, join } from "node:path"
import type { FileEntry } from "./Manifest.ts"
import { emptyRoom, isWhole, pageBytes, pagesPerFile } from "./Pages.ts"

/** Read and written at once: a whole number of pages. */
const blockBytes = 128 * pageBytes

/** Times that a page which is being written is read again. */
const rereads = 50

/** Folders whose content is made anew at every start, or belongs to the running server. */
const emptied = new Set(
  ["pg_dynshmem", "pg_notify", "pg_replslot", "pg_serial", "pg_snapshots", "pg_stat_tmp", "pg_subtrans", "pg_wal"]
)
const leftOut = /^(postmaster\.(pid|opts)|pg_internal\.init.*|backup_label(\.old)?|tablespace_map(\.old)?)$/

interface Listing {
  readonly folders: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
}

/** Folders and files of a data directory that belong to a backup, as paths below it; the control file comes last. */
export const listDatabase = (root: string): Listing => {
  const folders: Array<string> = []
  const files: Array<string> = []
  const walk = (folder: string): void => {
    for (const entry of Fs.readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (entry.name === "pgsql_tmp") continue
        folders.push(path)
        if (!emptied.has(path)) walk(path)
      } else if (entry.isFile() && !leftOut.test(entry.name)) files.push(path)
    }
  }
  walk("")
  const control = "global/pg_control"
  return {
    folders: [...folders, "pg_wal/archive_status"],
    files: [...files.filter((path) => path !== control), control]
  }
}

/** Pages of a relation's file: which are checked and, of an ordinary table or index, emptied of what was removed. */
interface Pages {
  readonly hasChecksums: boolean
  readonly isEmptied: boolean
}

/** A file that was not the same twice, or is damaged. */
class DamagedFile extends Error {}

/** Number of the first page of a relation's main file, undefined of other files. */
export const firstPageOf = (path: string): number | undefined => {
  const found = /^(?:base\/\d+|global)\/\d+(?:\.(\d+))?$/.exec(path)
  return found === null ? undefined : Number(found[1] ?? 0) * pagesPerFile
}

const cleanPages = (source: number, position: number, block: Buffer, first: number, pages: Pages): void => {
  for (let at = 0; at + pageBytes <= block.length; at += pageBytes) {
    const page = block.subarray(at, at + pageBytes)
    const number = first + (position + at) / pageBytes
    for (let times = 0; pages.hasChecksums && !isWhole(page, number); times++) {
      if (times >= rereads) throw new DamagedFile(`page ${number} is damaged`)
      Fs.readSync(source, page, 0, pageBytes, position + at)
    }
    if (pages.isEmptied) emptyRoom(page, number, pages.hasChecksums)
  }
}

/** Copies a file and flushes it; undefined when it is gone. `pages`: of a relation, with the number of its first page. */
export const copyFile = (
  from: string,
  to: string,
  path: string,
  pages?: Pages & { readonly first: number }
): FileEntry | undefined => {
  if (!Fs.existsSync(from)) return undefined
  Fs.mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  const source = Fs.openSync(from, "r")
  const target = Fs.openSync(to, "wx", 0o600)
  const hash = Crypto.createHash("sha256")
  const buffer = Buffer.alloc(blockBytes)
  let position = 0
  try {
    for (;;) {
      const read = Fs.readSync(source, buffer, 0, blockBytes, position)
      if (read === 0) break
      const block = buffer.subarray(0, read)
      if (pages !== undefined) cleanPages(source, position, block, pages.first, pages)
      hash.update(block)
      Fs.writeSync(target, block)
      position += read
    }
    Fs.fsyncSync(target)
  } finally {
    Fs.closeSync(source)
    Fs.closeSync(target)
  }
  return { path, bytes: position, sha256: hash.digest("hex") }
}
