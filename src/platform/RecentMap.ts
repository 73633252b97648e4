/**
 * Bounded cache with approximate LRU eviction: holds at least the `capacity` most recently used keys, at most twice that. Two generations instead of
 * a usage list, so that a hit is one look-up without a write: when the young one is full it becomes the old one, and the old one is dropped.
 */
export class RecentMap<K, V> {
  private readonly capacity: number
  private young = new Map<K, V>()
  private old = new Map<K, V>()

  constructor(capacity: number) {
    this.capacity = capacity
  }

  get(key: K): V | undefined {
    const value = this.young.get(key)
    if (value !== undefined) return value
    const aged = this.old.get(key)
    if (aged !== undefined) this.set(key, aged)
    return aged
  }

  set(key: K, value: V): void {
    if (this.young.size >= this.capacity && !this.young.has(key)) {
      this.old = this.young
      this.young = new Map()
    }
    this.young.set(key, value)
  }

  clear(): void {
    this.young = new Map()
    this.old = new Map()
  }

  /** All values, each key once, older ones first. */
  values(): Array<V> {
    return [...new Map([...this.old, ...this.young]).values()]
  }

  /** Number of keys held. */
  get size(): number {
    let repeated = 0
    for (const key of this.young.keys()) if (this.old.has(key)) repeated++
    return this.young.size + this.old.size - repeated
  }
}
