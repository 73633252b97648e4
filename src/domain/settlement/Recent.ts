/**
 * Latest records of a kind, newest last, each with a hash of its name. A search compares the hashes, which are contiguous: with ten thousand active
 * players the records are out of the processor's cache, and comparing each of eight took longer than the rest of a bet.
 */
export interface Recent<out A> {
  readonly marks: ReadonlyArray<number>
  readonly items: ReadonlyArray<A>
}

export const noRecent: Recent<never> = { marks: [], items: [] }

/** Distinguishing suffix of a name: a counter, or the last part of a UUID. */
const markedCharacters = 12

/** Hash of a name. */
export const markOf = (name: string): number => {
  let mark = name.length
  for (let index = Math.max(0, name.length - markedCharacters); index < name.length; index++) {
    mark = Math.imul(mark, 31) + name.charCodeAt(index) | 0
  }
  return mark
}

/** Index of the newest record under a name that satisfies `isIt`, -1 when there is none. */
export const placeOf = <A>({ items, marks }: Recent<A>, name: string, isIt: (item: A) => boolean): number => {
  const mark = markOf(name)
  for (let place = marks.length - 1; place >= 0; place--) {
    if (marks[place] === mark && isIt(items[place]!)) return place
  }
  return -1
}

/** Appends a record as the newest. */
export const append = <A>({ items, marks }: Recent<A>, name: string, item: A): Recent<A> => ({
  marks: [...marks, markOf(name)],
  items: [...items, item]
})

/** Replaces the record at an index. */
export const replace = <A>({ items, marks }: Recent<A>, place: number, item: A): Recent<A> => ({
  marks,
  items: items.with(place, item)
})

/** Removes the record at an index. */
export const remove = <A>({ items, marks }: Recent<A>, place: number): Recent<A> => ({
  marks: marks.toSpliced(place, 1),
  items: items.toSpliced(place, 1)
})

/** Keeps the records that satisfy `isKept`. */
export const keep = <A>({ items, marks }: Recent<A>, isKept: (item: A) => boolean): Recent<A> => ({
  marks: marks.filter((_, place) => isKept(items[place]!)),
  items: items.filter(isKept)
})

/** Keeps the newest `maximum` records. */
export const newest = <A>(recent: Recent<A>, maximum: number): Recent<A> => {
  const older = recent.items.length - maximum
  return older <= 0 ? recent : { marks: recent.marks.slice(older), items: recent.items.slice(older) }
}
