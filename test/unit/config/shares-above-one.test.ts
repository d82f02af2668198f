import { expect, test } from 'vitest'
import { folderWith } from './folder-with.ts'
import { problemsWhenLoading } from './problems-when-loading.ts'

test.for(['short_calls', 'request_errors', 'service_webhooks_missed', 'failure_ratio'])(
  'a rule on %s above 1 is refused, since it could never fire',
  (signal) => {
    const text = `targets: [{ app_id: app, region: us, api_key: key }]\nalerts: [{ name: All, signal: ${signal}, above: 1 }]\n`
    expect(problemsWhenLoading({ env: {}, cwd: folderWith({ 'callwatch.yaml': text }) })).toContain(
      'no ratio can be above that',
    )
  },
)
