import type { Config } from './config.ts'
import { loadConfig, type LoadConfigOptions } from './load-config.ts'
import { isReadOnce, readAnyText, readText, type ReadText } from './reading/read-text.ts'

/**
 * Loads the configuration each time it is called, but checks it again only if one of its files has changed. Reading the files
 * takes a fraction of a millisecond. A configuration that is no regular file, such as `<(…)`, is read once and never changes.
 *
 * @returns the same configuration, or throws the same ConfigError, until a file changes
 */
export function repeatedLoad(options: LoadConfigOptions): () => Config {
  const once = new Map<string, string>()
  let latest: Loaded | undefined
  const readConfig: ReadText = (path) => {
    const known = once.get(path)
    if (known !== undefined) return known
    // If a pipe replaces the file while the daemon runs, it must not block everything.
    if (latest !== undefined || !isReadOnce(path)) return readText(path)
    const text = readAnyText(path)
    once.set(path, text)
    return text
  }
  return () => {
    const isSame =
      latest !== undefined && [...latest.seen].every(([path, { read, content }]) => contentOf(read, path) === content)
    if (latest === undefined || !isSame) latest = load({ ...options, readConfig })
    return latest.outcome()
  }
}

/** A configuration, and the content of each of its files. */
type Loaded = { seen: Map<string, { read: ReadText; content: unknown }>; outcome: () => Config }

function load(options: LoadConfigOptions & { readConfig: ReadText }): Loaded {
  const seen: Loaded['seen'] = new Map()
  const noting =
    (read: ReadText): ReadText =>
    (path) => {
      try {
        const text = read(path)
        seen.set(path, { read, content: text })
        return text
      } catch (error) {
        seen.set(path, { read, content: reasonOf(error) })
        throw error
      }
    }
  try {
    const config = loadConfig({ ...options, readText: noting(readText), readConfig: noting(options.readConfig) })
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

/** The content of a file, or the reason why it cannot be read. */
function contentOf(read: ReadText, path: string): unknown {
  try {
    return read(path)
  } catch (error) {
    return reasonOf(error)
  }
}

function reasonOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : error
}
