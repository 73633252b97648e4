/**
 * The latest records of a kind, newest last, each with a number made of its name. A search reads the numbers, which lie together; the records
 * of ten thousand players who take turns are cold in the processor's cache, and to look at each of eight took longer than the rest of a bet.
 */
export interface Recent<out A> {
  readonly marks: ReadonlyArray<number>
  readonly items: ReadonlyArray<A>
}

export const noRecent: Recent<never> = { marks: [], items: [] }

/** Names end in what tells them apart: a count, or the last part of a UUID. */
const markedCharacters = 12

/** The number of a name: equal for equal names, seldom equal for others. */
export const markOf = (name: string): number => {
  let mark = name.length
  for (let index = Math.max(0, name.length - markedCharacters); index < name.length; index++) {
    mark = Math.imul(mark, 31) + name.charCodeAt(index) | 0
  }
  return mark
}

/** The place of the newest record under a name that is the one looked for, -1 when there is none. */
export const placeOf = <A>({ items, marks }: Recent<A>, name: string, isIt: (item: A) => boolean): number => {
  const mark = markOf(name)
  for (let place = marks.length - 1; place >= 0; place--) {
    if (marks[place] === mark && isIt(items[place]!)) return place
  }
  return -1
}

/** With a record as the newest. */
export const append = <A>({ items, marks }: Recent<A>, name: string, item: A): Recent<A> => ({
  marks: [...marks, markOf(name)],
  items: [...items, item]
})

/** With another record at a place. */
export const replace = <A>({ items, marks }: Recent<A>, place: number, item: A): Recent<A> => ({
  marks,
  items: items.with(place, item)
})

/** Without the record at a place. */
export const remove = <A>({ items, marks }: Recent<A>, place: number): Recent<A> => ({
  marks: marks.toSpliced(place, 1),
  items: items.toSpliced(place, 1)
})

/** The records that are kept. */
export const keep = <A>({ items, marks }: Recent<A>, isKept: (item: A) => boolean): Recent<A> => ({
  marks: marks.filter((_, place) => isKept(items[place]!)),
  items: items.filter(isKept)
})

/** The newest so many. */
export const newest = <A>(recent: Recent<A>, maximum: number): Recent<A> => {
  const older = recent.items.length - maximum
  return older <= 0 ? recent : { marks: recent.marks.slice(older), items: recent.items.slice(older) }
}
