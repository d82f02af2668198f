import type { CsvFormat } from '../text/csv.ts'
import { withoutNoise } from '../text/without-noise.ts'
import { callRow, type CallView } from './call.ts'
import { columnsOf, csvOf } from './columns.ts'

/** Calls as text: their content type, what comes first, the line of each, and what comes between two of them. */
export type CallFormat = { type: string; header: string; line: (call: CallView) => string; separator?: string }

const csv = (format: CsvFormat): CallFormat => ({
  type: 'text/csv; charset=utf-8',
  ...csvOf(columnsOf(callRow), format),
})

export const CALL_FORMATS = {
  csv: csv('csv'),
  excel: csv('excel'),
  ndjson: {
    type: 'application/x-ndjson; charset=utf-8',
    header: '',
    line: (call) => `${JSON.stringify(withoutNoise(call))}\n`,
  },
} as const satisfies Record<string, CallFormat>
