import { expect, test } from 'vitest'
import { usageCsv, type UsageReport } from '../../src/history/usage.ts'

test('CSV without a row says how much of the period is not covered', () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what CSV has of a report
  const report = { rows: [], coverage: { blind_seconds: 14_400, blind: [] } } as unknown as UsageReport
  const [header = '', row = ''] = usageCsv(report, ['type'], 'csv').split('\r\n')
  expect(row.split(',')).toHaveLength(header.split(',').length)
  expect(row).toMatch(/^,+14400$/)
})
