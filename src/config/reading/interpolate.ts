/** Variables by name, as in `process.env`. An empty variable counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>

// `$${` comes first: it stands for a plain `${`. A `${` without an end matches as well, as a mistake.
const reference = /\$\$\{|\$\{([^}]*)(\}?)/g
const variableName = /^[A-Za-z_]\w*$/

/**
 * Replaces `${NAME}` by variables of the environment, whose values are not interpolated again. `$${` stands for `${`.
 *
 * @returns the text, the names in it, and what is wrong with them, each in a sentence
 */
export function interpolate(template: string, env: Environment) {
  const names: string[] = []
  const problems: string[] = []
  const text = template.replaceAll(reference, (whole: string, name: string | undefined, end: string | undefined) => {
    if (name === undefined) return '${'
    if (end === '' || !variableName.test(name)) {
      problems.push('found `${` without a name and `}`; expected `${NAME}`, or `$${` for a plain `${`')
      return whole
    }
    names.push(name)
    const state = env[name] === undefined ? 'not set' : 'empty'
    if (!env[name]) problems.push(`the environment variable \`${name}\` is ${state}; expected a value for it`)
    return env[name] || whole
  })
  return { text, names, problems }
}
