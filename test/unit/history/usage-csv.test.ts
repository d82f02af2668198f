import { expect, test } from 'vitest'
import { reportCsv, type Report } from '../../../src/views/report.ts'

test('CSV without a row says how much of the period is not covered', () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what CSV has of a report
  const report = { rows: [], coverage: { blind_seconds: 14_400, blind: [] } } as unknown as Report
  const [header = '', row = ''] = reportCsv(report, { by: ['type'], format: 'csv' }).split('\r\n')
  expect(row.split(',')).toHaveLength(header.split(',').length)
  expect(row).toMatch(/^,+14400$/)
})
