/** Pages of PostgreSQL's files: their checksum, and room in them that holds what was removed. */

export const pageBytes = 8192

/** Pages of a file of a relation; the next file goes on with the next page. */
export const pagesPerFile = 131_072

/** Start of each of the 32 sums, as src/include/storage/checksum_impl.h of PostgreSQL has them. */
const starts = Int32Array.from(
  [
    [0x5B1F36E9, 0xB8525960, 0x02AB50AA, 0x1DE66D2A, 0x79FF467A, 0x9BB9F8A3, 0x217E7CD2, 0x83E13D2C],
    [0xF8D4474F, 0xE39EB970, 0x42C6AE16, 0x993216FA, 0x7B093B5D, 0x98DAFF3C, 0xF718902A, 0x0B1C9CDB],
    [0xE58F764B, 0x187636BC, 0x5D7B3BB1, 0xE73DE7DE, 0x92BEC979, 0xCCA6C0B2, 0x304A0979, 0x85AA43D4],
    [0x783125BB, 0x6CA8EAA2, 0xE407EAC6, 0x4B5CFC3E, 0x9FBF8C76, 0x15CA20BE, 0xF2CA9FD3, 0x959BD756]
  ].flat()
)
const prime = 16_777_619

const checksumAt = 8
const lowerAt = 12
const upperAt = 14
const specialAt = 16
const headerBytes = 24

const sums = new Int32Array(starts.length)

/** Checksum of a page, whose field for it counts as zero, at its number in the relation. */
const checksumOf = (page: Buffer, number: number): number => {
  const stored = page.readUInt16LE(checksumAt)
  page.writeUInt16LE(0, checksumAt)
  const words = new Int32Array(page.buffer, page.byteOffset, pageBytes / 4)
  sums.set(starts)
  for (let at = 0; at < words.length; at += sums.length) {
    for (let index = 0; index < sums.length; index++) {
      const mixed = (sums[index] ?? 0) ^ (words[at + index] ?? 0)
      sums[index] = Math.imul(mixed, prime) ^ (mixed >>> 17)
    }
  }
  let folded = 0
  for (let sum of sums) {
    for (let round = 0; round < 2; round++) sum = Math.imul(sum, prime) ^ (sum >>> 17)
    folded ^= sum
  }
  page.writeUInt16LE(stored, checksumAt)
  return ((folded ^ number) >>> 0) % 65_535 + 1
}

const isNew = (page: Buffer): boolean => page.readUInt16LE(upperAt) === 0

/** Whether a page is whole: one that is being written while it is read is not, and neither is a damaged one. */
export const isWhole = (page: Buffer, number: number): boolean =>
  isNew(page) || page.readUInt16LE(checksumAt) === checksumOf(page, number)

/** Empties the room between a page's pointers and its rows, where rows that were removed stay readable until others overwrite them. */
export const emptyRoom = (page: Buffer, number: number, hasChecksum: boolean): void => {
  const [lower, upper] = [page.readUInt16LE(lowerAt), page.readUInt16LE(upperAt)]
  if (isNew(page) || lower < headerBytes || lower >= upper || upper > page.readUInt16LE(specialAt)) return
  page.fill(0, lower, upper)
  if (hasChecksum) page.writeUInt16LE(checksumOf(page, number), checksumAt)
}
