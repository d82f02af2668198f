import type { Rule } from '../../src/alerts/rule.ts'
import { defaultRules } from '../../src/config/schema/rules/default-rules.ts'
import { resolveRule } from '../../src/config/schema/rules/resolve-rule.ts'
import { ruleSchema } from '../../src/config/schema/rules/rule-schema.ts'

/** The rules that hold where the file has no `alerts`. */
export function shippedRules(): Rule[] {
  return defaultRules.map((rule) => resolveRule(ruleSchema.parse(rule)))
}
