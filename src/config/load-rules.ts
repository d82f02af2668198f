import { z } from 'zod'
import { checkWindows, ruleSchema, type Rule } from '../alerts/rule.ts'
import { reportDuplicates, type Path } from '../schema/path.ts'
import { draftOf, errorOf, problemAt, problemsOf } from './reading/draft.ts'
import type { Environment } from './reading/interpolate.ts'
import { readConfigFile } from './reading/read-config-file.ts'

export type LoadRulesOptions = {
  /** The value of `--rule`. */
  file: string
  env: Environment
  /** The folder at which a relative name starts. */
  cwd: string
  /** How long finished calls are kept (seconds). */
  history: number
}

/**
 * Reads a file with one rule or a list of rules, in the form of `alerts`.
 *
 * @throws ConfigError with every problem, worded and located like mistakes in a configuration file
 */
export function loadRules({ file, env, cwd, history }: LoadRulesOptions): Rule[] {
  const rulesFile = readConfigFile({ file, env, cwd, option: '--rule', expected: 'a file of rules' })
  const draft = draftOf(rulesFile, env)
  const isList = Array.isArray(draft.tree)
  const result = isList ? z.array(ruleSchema).safeParse(draft.tree) : ruleSchema.safeParse(draft.tree)
  const problems = [...draft.problems, ...problemsOf(result.error?.issues ?? [], draft)]
  const rules = [result.data ?? []].flat()
  const report = (path: Path, message: string) =>
    problems.push(problemAt(draft, isList ? path : path.slice(1), message))
  checkWindows(rules, history, ([, ...path], message) => report(path, message))
  reportDuplicates(
    rules.map((rule) => rule.name),
    (index, earlier) => report([index, 'name'], `the same name as \`[${earlier}]\`; expected a name of its own`),
  )
  if (problems.length === 0) return rules
  throw errorOf(draft, problems)
}
