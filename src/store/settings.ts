/** What all daemons on one store must agree in, by the names of the configuration; nothing secret in it. */
export type Settings = Readonly<Record<string, Setting>>

/** As the configuration has it; names of which each must be there; or a digest of what is too long to be shown. */
export type Setting = string | readonly string[] | { readonly digest: string }

/** Differences that are reported at most, and names in each. */
const MAX_SHOWN = 3

/**
 * How ours differ from theirs, in words; undefined where they do not. A setting that only one side has was added by
 * another version of callwatch, and is not compared.
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
