/** JSON that a store itself wrote: T is what it was written from. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function parse<T>(text: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(String(text)) as T
}

/** Selects the rows of a target by its name, which is $1. */
export const OF_TARGET = 'target = (SELECT number FROM callwatch.targets WHERE name = $1)'
