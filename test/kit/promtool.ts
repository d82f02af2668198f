import { spawnSync, type SpawnSyncReturns } from 'node:child_process'
import type { TestContext } from 'vitest'

/**
 * The problems that promtool's linter may find. callwatch exports minutes, because the service reports minutes; the other
 * three metrics come from prom-client.
 */
export const ACCEPTED_COMPLAINTS = [
  'callwatch_call_minutes_total use base unit "seconds" instead of "minutes"',
  'callwatch_minutes_corrections_total use base unit "seconds" instead of "minutes"',
  'callwatch_participant_minutes_total use base unit "seconds" instead of "minutes"',
  'nodejs_active_handles_total non-counter metrics should not have "_total" suffix',
  'nodejs_active_requests_total non-counter metrics should not have "_total" suffix',
  'nodejs_active_resources_total non-counter metrics should not have "_total" suffix',
]

/** The problems that promtool's linter finds in an exposition, sorted. */
export function complaintsOf(exposition: string): string[] {
  const { stdout, stderr } = promtool(['check', 'metrics'], exposition)
  return `${stdout}${stderr}`.trim().split('\n').toSorted()
}

/** @throws Error if promtool is not installed */
export function promtool(args: readonly string[], input = ''): SpawnSyncReturns<string> {
  const ran = spawnSync('promtool', args, { input, encoding: 'utf8' })
  if (ran.error !== undefined) throw ran.error
  return ran
}

const missing = spawnSync('promtool', ['--version']).error !== undefined

export function skipWithoutPromtool({ skip }: TestContext): void {
  if (missing && process.env['CI'] !== 'true') skip('promtool is not on the PATH: apt-get install prometheus')
}
