import { ConfigError, formatProblems } from '../../../src/config/config-error.ts'
import { loadConfig } from '../../../src/config/load-config.ts'

/** What the user sees when this configuration is refused; fails where it is accepted. */
export function problemsWhenLoading(options: Parameters<typeof loadConfig>[0]): string {
  try {
    loadConfig(options)
  } catch (error) {
    if (error instanceof ConfigError) return formatProblems(error)
    throw error
  }
  throw new Error('the configuration was accepted')
}
