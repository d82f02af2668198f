import type { Oddity } from './oddity.ts'

/** Times in milliseconds. Truth: the same seconds. */
export const milliseconds: Oddity = (wire) => {
  const odd = { ...wire }
  for (const name of ['initiatedAt', 'startedAt', 'endedAt']) {
    const time = odd[name]
    if (typeof time === 'number') odd[name] = time * 1000
  }
  return odd
}
