import type { Logger } from 'pino'
import type { renamedTargets } from '../../pipeline/renamed-targets.ts'

/** Logs which targets continue others under a new name, and what a user should know of names. */
export function logRenamed(
  log: Logger,
  { renames, notices }: Pick<Awaited<ReturnType<typeof renamedTargets>>, 'renames' | 'notices'>,
): void {
  for (const { name, formerly } of renames)
    log.info({ target: name, formerly }, `target ${name} continues the counts, history and alerts of ${formerly}`)
  for (const notice of notices) log.warn(notice)
}
