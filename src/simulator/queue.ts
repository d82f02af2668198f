/** A binary heap: what comes first by `before` is taken first. */
export type Queue<Item> = { heap: Item[]; before: (a: Item, b: Item) => boolean }

export function put<Item>(queue: Queue<Item>, item: Item): void {
  const { heap, before } = queue
  let at = heap.push(item) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!before(item, heap[parent]!)) break
    heap[at] = heap[parent]!
    at = parent
  }
  heap[at] = item
}

/** Removes the first item; undefined when there is none. */
export function take<Item>(queue: Queue<Item>): Item | undefined {
  const { heap, before } = queue
  const first = heap[0]
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return first
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++
    if (!before(heap[child]!, last)) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = last
  return first
}
