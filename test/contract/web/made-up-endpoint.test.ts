import { expect, test, vi } from 'vitest'
import type * as Routes from '../../../src/web/api/routes.ts'
import { serve } from '../../kit/web/serve.ts'

// An endpoint that is in the list, and nowhere else.
vi.mock('../../../src/web/api/routes.ts', async (original) => {
  const { ROUTES } = await original<typeof Routes>()
  const { echo } = await import('../../unit/web/echo.ts')
  return { ROUTES: [...ROUTES, echo] }
})

test('a further endpoint in the list checks its requests, and has its answer', async () => {
  const { url } = await serve([])
  const get = async (path: string) => (await fetch(`${url}/api/v1/echo${path}`)).text()
  expect(JSON.parse(await get('/2?word=ab'))).toEqual({ version: '1.2.3', word: 'abab' })
  expect(JSON.parse(await get('/2?word=abcdef'))).toMatchObject({ status: 400, detail: 'word must be short' })
  expect(JSON.parse(await get('/2?word=a&x=1'))).toMatchObject({
    detail: 'unknown parameter x; the parameters are word',
  })
})

test('it is in the OpenAPI document', async () => {
  const { url } = await serve([])
  const document = await (await fetch(`${url}/api/v1/openapi.json`)).json()
  expect(document).toMatchObject({
    paths: {
      '/api/v1/echo/{times}': {
        get: {
          summary: 'Repeats a word',
          parameters: [
            { name: 'word', in: 'query', required: true, description: 'What to repeat', schema: { maxLength: 5 } },
            { name: 'times', in: 'path', required: true },
          ],
          responses: {
            200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Echo' } } } },
            default: { content: { 'application/problem+json': {} } },
          },
        },
      },
    },
    components: {
      schemas: {
        Echo: { properties: { word: { type: 'string', description: 'The same' } }, required: ['version', 'word'] },
      },
    },
  })
})
