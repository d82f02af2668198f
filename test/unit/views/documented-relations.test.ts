import { expect, test } from 'vitest'
import { alertColumns, callColumns } from '../../../src/store/documented-relations.ts'
import type { AlertColumn } from '../../../src/views/alert.ts'
import { callRow, type CallColumn } from '../../../src/views/call.ts'
import { columnsOf } from '../../../src/views/columns.ts'

test.each(['sqlite', 'postgres'] as const)(
  'the relations of %s have the fields of calls and of past alerts',
  (store) => {
    const calls: Record<CallColumn, string> = callColumns(store)
    const fields = columnsOf(callRow).map(({ name }) => name)
    expect(Object.keys(calls).toSorted()).toEqual(fields.toSorted())
    // The compiler compares the names of the columns.
    const alerts: Record<AlertColumn, string> = alertColumns(store)
    expect(Object.values(alerts)).not.toContain('')
  },
)
