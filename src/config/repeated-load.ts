import type { Config } from './config.ts'
import { loadConfig, type LoadOptions } from './load-config.ts'
import { readText, type ReadText } from './reading/read-text.ts'

/**
 * Loads the configuration as often as it is asked to, and checks it anew only where one of the files that it was made of
 * says something else: to look at those takes a fraction of a millisecond.
 *
 * @returns gives the same configuration, or throws the same ConfigError, until then
 */
export function repeatedLoad(options: LoadOptions): () => Config {
  let latest: { seen: Map<string, unknown>; outcome: () => Config } | undefined
  return () => {
    const isSame = latest !== undefined && [...latest.seen].every(([path, text]) => look(path) === text)
    if (latest === undefined || !isSame) latest = load(options)
    return latest.outcome()
  }
}

function load(options: LoadOptions) {
  const seen = new Map<string, unknown>()
  const noting: ReadText = (path) => {
    seen.set(path, look(path))
    return readText(path)
  }
  try {
    const config = loadConfig({ ...options, readText: noting })
    return { seen, outcome: () => config }
  } catch (error) {
    return {
      seen,
      outcome: () => {
        throw error
      },
    }
  }
}

/** What a file says, or why it says nothing. */
function look(path: string): unknown {
  try {
    return readText(path)
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
}
