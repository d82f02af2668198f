/** Inserts an item in order. Most items belong near the end. */
export function insert<Item>(items: Item[], item: Item, isBefore: (one: Item, other: Item) => boolean): void {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(items[middle]!, item)) low = middle + 1
    else high = middle
  }
  items.splice(low, 0, item)
}
