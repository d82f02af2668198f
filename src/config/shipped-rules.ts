import { isDeepStrictEqual } from 'node:util'
import { defaultRules } from '../alerts/default-rules.ts'
import { checkWindows, ruleSchema } from '../alerts/rule.ts'
import type { Config } from './config.ts'

/** The shipped rules that read back no further than finished calls are kept (seconds), in the file's own form. */
export function servedRules(history: number): typeof defaultRules {
  return defaultRules.filter((rule) => whyNotLoaded(rule, history) === undefined)
}

/** A warning for each shipped rule that was left out because `store.history` is too short for it. */
export function leftOutWarnings({ alerts, store: { history } }: Pick<Config, 'alerts' | 'store'>): string[] {
  const served = servedRules(history).map((rule) => ruleSchema.parse(rule))
  if (!isDeepStrictEqual(alerts, served)) return []
  return defaultRules.flatMap((rule) => {
    const problem = whyNotLoaded(rule, history)
    return problem === undefined ? [] : [`the shipped rule ${rule.name} was left out: ${problem}`]
  })
}

/** Why a rule cannot be evaluated with a history of this length (seconds); undefined if it can. */
function whyNotLoaded(rule: (typeof defaultRules)[number], history: number): string | undefined {
  let problem: string | undefined
  checkWindows([ruleSchema.parse(rule)], history, (_path, message) => (problem = message))
  return problem
}
