import type { TargetConfig } from '../service/target-section.ts'
import type { RowReader } from '../store/sql.ts'
import type { Rename } from '../store/store.ts'
import { targetFingerprint } from './target.ts'

/** A target that the store has. */
type Known = { name: string; fingerprint: string }

/**
 * What a configuration and the store have of names of targets.
 *
 * @returns `renames`: targets that continue others of the store; `ended`: the former names of which nothing is left then; `notices`: what
 * a user should know, each in a sentence; `refusal`: why a target cannot continue the one that it names
 * @throws {StoreError} if the store cannot be read now
 */
export async function renamedTargets({ rows }: RowReader, targets: readonly TargetConfig[]) {
  // The latest of several that are gone is first.
  const found = await rows(
    'SELECT name, fingerprint FROM callwatch.targets ORDER BY coalesce(removed, 9e15) DESC, number DESC',
  )
  const stored = new Map(found.map(({ name, fingerprint }) => [String(name), String(fingerprint)]))
  const configured = new Set(targets.map(({ name }) => name))
  const former = new Set(targets.map(({ formerly }) => formerly))
  const gone = [...stored].flatMap(([name, fingerprint]): Known[] =>
    configured.has(name) || former.has(name) ? [] : [{ name, fingerprint }],
  )
  const renames: Rename[] = []
  const notices: string[] = []
  const refusals: string[] = []
  for (const target of targets) {
    const { name, formerly } = target
    const fingerprint = targetFingerprint(target)
    const before = formerly === undefined ? undefined : stored.get(formerly)
    const same = gone.find((one) => one.fingerprint === fingerprint)
    if (formerly === undefined || before === undefined) {
      if (!stored.has(name) && same !== undefined) notices.push(fromNothing(name, same.name))
    } else if (stored.has(name)) {
      if (before === fingerprint) notices.push(ownCounts(name, formerly))
    } else if (before === fingerprint) renames.push({ name, formerly })
    else refusals.push(another(name, formerly))
  }
  const isLeft = (name: string) => stored.has(name) && !renames.some(({ formerly }) => formerly === name)
  const ended = targets.flatMap(({ formerly }) => (formerly === undefined || isLeft(formerly) ? [] : formerly))
  return { renames, ended, notices, refusal: refusals[0] }
}

function fromNothing(name: string, gone: string): string {
  return (
    `target ${name} has the address and app of ${gone}, which is no longer configured, and is counted from nothing; ` +
    `set \`formerly: ${gone}\` on it to continue the counts, history and alerts of ${gone}`
  )
}

function ownCounts(name: string, formerly: string): string {
  return (
    `target ${name} has counts of its own, so it does not continue those of ${formerly}; remove \`formerly: ${formerly}\` to keep ` +
    `its own, or run once with --reset-target ${name} to continue those of ${formerly}`
  )
}

function another(name: string, formerly: string): string {
  return (
    `target ${name} cannot continue ${formerly}, which had another address, on_behalf_of or query when its calls were counted; ` +
    `remove \`formerly: ${formerly}\` to count ${name} from nothing`
  )
}
