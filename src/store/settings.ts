/** The settings that must be the same for all daemons on a store, by their names in the configuration. Contains no secrets. */
export type Settings = Readonly<Record<string, Setting>>

/** The value as configured, a set of names, or the digest of a value that is too long to show. */
export type Setting = string | readonly string[] | { readonly digest: string }

/** The most differences that are reported, and the most names in each. */
const MAX_SHOWN = 3

/**
 * Describes how our settings differ from theirs; undefined if they do not. A setting that only one side has belongs to another
 * version of callwatch, and is not compared.
 */
export function difference(theirs: Settings, ours: Settings): string | undefined {
  const differing = Object.keys(ours)
    .toSorted()
    .flatMap((name) => {
      const [there, here] = [theirs[name], ours[name]!]
      return there === undefined || JSON.stringify(there) === JSON.stringify(here) ? [] : inWords(name, there, here)
    })
  return differing.length === 0 ? undefined : shortened(differing)
}

function inWords(name: string, there: Setting, here: Setting): string {
  if (typeof there === 'string' && typeof here === 'string') return `${name} is ${here} here and ${there} there`
  if (!isList(there) || !isList(here)) return `${name} is not the same`
  const only = (names: readonly string[], others: readonly string[], where: string) => {
    const own = names.filter((one) => !others.includes(one))
    return own.length === 0 ? [] : `${shortened(own)} only ${where}`
  }
  return `${name} has ${[only(here, there, 'here'), only(there, here, 'there')].flat().join(' and ')}`
}

function isList(setting: Setting): setting is readonly string[] {
  return Array.isArray(setting)
}

function shortened(things: readonly string[]): string {
  const more = things.length - MAX_SHOWN
  return [...things.slice(0, MAX_SHOWN), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}
