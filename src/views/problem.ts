import * as z from 'zod'
import { named } from './shapes.ts'

/** The names of statuses. An `import` of node:http would load `fetch`, which takes megabytes and is not used. */
export const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** The body of each error of the server (RFC 9457). */
export const problem = z
  .object({
    type: z.literal('about:blank'),
    title: z.string().describe('Name of the status'),
    status: z.int(),
    detail: z.string().describe('What is wrong, in a sentence'),
  })
  .describe('The request was refused, or has failed')
  .register(named, { id: 'Problem' })

export const cursorExpired = problem
  .extend({ oldest: z.string().describe('Cursor from which all events that are left are read') })
  .describe('The events after this cursor are not known any more')
  .register(named, { id: 'CursorExpired' })

export function problemView(status: number, detail: string): z.output<typeof problem> {
  return { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail }
}

/** The document of the API (https://spec.openapis.org/oas/v3.1.0.html). */
export const openApi = z.looseObject({ openapi: z.string() }).register(named, { id: 'OpenApi' })
