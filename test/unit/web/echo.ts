import * as z from 'zod'
import { namedObject } from '../../../src/views/shapes.ts'
import { route } from '../../../src/web/api/route.ts'
import type { WebOptions } from '../../../src/web/server.ts'

const parameters = z.strictObject({ word: z.string().max(5, 'must be short').describe('What to repeat') })
const answer = namedObject('Echo', {
  version: z.string(),
  word: z.string().describe('The same'),
  none: z.int().optional(),
})

/** An endpoint as somebody would add it. */
export const echo = route(
  'GET /api/v1/echo/:times',
  'Repeats a word',
  {
    checks: { querystring: parameters, params: z.strictObject({ times: z.coerce.number() }) },
    answers: { 200: answer },
  },
  ({ version }: WebOptions) =>
    async ({ query, params }) => ({ version, word: query.word.repeat(params.times) }),
)
