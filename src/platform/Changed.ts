/** Applies an update; gives the same object when nothing differs. Absent fields stay as they are. */
export const changed = <A extends object, Update extends Partial<A>>(before: A, update: Update): A => {
  const after = { ...before, ...update }
  return JSON.stringify(after) === JSON.stringify(before) ? before : after
}
