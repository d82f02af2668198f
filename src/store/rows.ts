/** Parses JSON that the store itself wrote from a T. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function parse<T>(text: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(String(text)) as T
}

/** Selects the rows of the target with the name $1. */
export const OF_TARGET = 'target = (SELECT number FROM callwatch.targets WHERE name = $1)'
