/**
 * A player's latest rounds or transactions in memory, newest last, each with a hash of its id. A search compares the hashes, which are contiguous:
 * with ten thousand active players the records are out of the processor's cache, and comparing each of eight took longer than the rest of a bet.
 */
export interface Recent<out A> {
  readonly hashes: ReadonlyArray<number>
  readonly items: ReadonlyArray<A>
}

export const emptyRecent: Recent<never> = { hashes: [], items: [] }

/** Distinguishing suffix of a name: a counter, or the last part of a UUID. */
const hashedCharacters = 12

/** Hash of a name. */
export const hashOfName = (name: string): number => {
  let hash = name.length
  for (let index = Math.max(0, name.length - hashedCharacters); index < name.length; index++) {
    hash = Math.imul(hash, 31) + name.charCodeAt(index) | 0
  }
  return hash
}

/** Index of the newest record under a name that satisfies `isMatch`, -1 when there is none. */
export const indexOfName = <A>({ items, hashes }: Recent<A>, name: string, isMatch: (item: A) => boolean): number => {
  const hash = hashOfName(name)
  for (let index = hashes.length - 1; index >= 0; index--) {
    if (hashes[index] === hash && isMatch(items[index]!)) return index
  }
  return -1
}

/** Appends a record as the newest. By `concat`, which leaves no spare room: a spread reserves room for sixteen more and half as many again. */
export const append = <A>({ items, hashes }: Recent<A>, name: string, item: A): Recent<A> => ({
  hashes: hashes.concat([hashOfName(name)]),
  items: items.concat([item])
})

/** Replaces the record at an index. */
export const replace = <A>({ items, hashes }: Recent<A>, index: number, item: A): Recent<A> => ({
  hashes,
  items: items.with(index, item)
})

/** Removes the record at an index. */
export const remove = <A>({ items, hashes }: Recent<A>, index: number): Recent<A> => ({
  hashes: hashes.toSpliced(index, 1),
  items: items.toSpliced(index, 1)
})

/** Keeps the records that satisfy `isKept`. */
export const filterRecent = <A>({ items, hashes }: Recent<A>, isKept: (item: A) => boolean): Recent<A> => ({
  hashes: hashes.filter((_, index) => isKept(items[index]!)),
  items: items.filter(isKept)
})

/** Keeps the newest `maximum` records. */
export const newest = <A>(recent: Recent<A>, maximum: number): Recent<A> => {
  const older = recent.items.length - maximum
  return older <= 0 ? recent : { hashes: recent.hashes.slice(older), items: recent.items.slice(older) }
}
