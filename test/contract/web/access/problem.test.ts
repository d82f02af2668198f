import { once } from 'node:events'
import { STATUS_CODES } from 'node:http'
import { connect } from 'node:net'
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { answerErrors } from '../../../../src/web/problem.ts'
import { StoreError } from '../../../../src/store/store-error.ts'
import { AUTH, basic, serve, shownTarget } from '../../../kit/web/serve.ts'

type Request = { method?: string; headers?: Record<string, string>; body?: string }

const json = { 'content-type': 'application/json' }
const post = (body: string, headers: Record<string, string> = json) => ({ method: 'POST', body, headers })

test.each<[status: number, path: string, detail: string | RegExp, init?: Request]>([
  [404, '/api/v1/nothing?x', 'there is no GET /api/v1/nothing?x'],
  [404, '/api/nothing', 'there is no GET /api/nothing'],
  [404, '/nothing', 'there is no GET /nothing'],
  [404, '/api/v1/state', 'there is no DELETE /api/v1/state', { method: 'DELETE' }],
  [404, '/api/v1/silences/7', 'there is no active silence 7', { method: 'DELETE' }],
  [400, '/api/v1/%zz', "'/api/v1/%zz' is not a valid url component"],
  [414, `/api/v1/silences/${'7'.repeat(5001)}`, /is exceeding the max param length$/, { method: 'DELETE' }],
  [400, '/api/v1/calls?limit=0', 'limit must be a whole number from 1 to 99999'],
  [400, '/api/v1/calls?of=a', /^unknown parameter of; the parameters are since, until/],
  [400, '/api/v1/silences', /^Body is not valid JSON/, post('{')],
  [400, '/api/v1/silences', /^✖ Invalid input: expected object/, { method: 'POST' }],
  [413, '/api/v1/silences', 'Request body is too large', post(JSON.stringify('x'.repeat(65 * 1024)))],
  [415, '/api/v1/silences', 'Unsupported Media Type', post('x', { 'content-type': 'text/x' })],
  [403, '/api/v1/silences', /^a page of another origin/, post('{}', { ...json, origin: 'https://evil.test' })],
  [401, '/api/v1/state', 'wrong user name or password', { headers: basic({ ...AUTH, password: '' }) }],
  [401, '/api/v1/state', /^Missing or bad/, { headers: { authorization: 'none' } }],
  [410, '/api/v1/events?after=1.0.made-up', /^the events after this cursor were deleted/],
])('an error %i of %s is a problem with its sentence', async (status, path, detail, init = {}) => {
  const { url } = await serve([shownTarget()], { auth: AUTH })
  const response = await fetch(url + path, { ...init, headers: { ...basic(), ...init.headers } })
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  expect([response.status, await response.json()]).toMatchObject([
    status,
    {
      type: 'about:blank',
      title: STATUS_CODES[status],
      status,
      detail: typeof detail === 'string' ? detail : expect.stringMatching(detail),
    },
  ])
})

test('while the store is unavailable the error 503 is a problem with its sentence', async () => {
  const onRead = () => {
    throw new StoreError('unavailable', 'the disk is full')
  }
  const { url } = await serve([shownTarget()], { onRead })
  const response = await fetch(`${url}/api/v1/alerts?since=0`)
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  expect([response.status, await response.json()]).toEqual([
    503,
    { type: 'about:blank', title: 'Service Unavailable', status: 503, detail: 'the disk is full' },
  ])
})

test('while the server closes the error 503 is a problem with its sentence', async () => {
  const app = fastify({ return503OnClosing: false })
  answerErrors(app)
  const closing = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  app.addHook('preClose', async () => {
    closing.resolve()
    await end.promise
  })
  app.get('/', async () => 'still here')
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const closed = app.close()
  await closing.promise
  const response = await fetch(url)
  expect([response.status, await response.json()]).toMatchObject([503, { detail: 'this daemon is stopping' }])
  end.resolve()
  await closed
})

test.each([
  [400, 'what?\r\n\r\n', 'the request is not valid HTTP'],
  [408, 'GET /api/v1/state HTTP/1.1\r\n', 'the request did not arrive completely in time'],
  [
    408,
    'POST /api/v1/silences HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
    'the request did not arrive completely in time',
  ],
  [
    431,
    `GET /api/v1/state HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(70_000)}\r\n\r\n`,
    'the headers of the request are too long',
  ],
])(
  'an error %i of what cannot be read as a request is a problem with its sentence',
  async (status, request, detail) => {
    const { url } = await serve([shownTarget()], { requestTimeout: 0.2 })
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    let answer = ''
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
    socket.write(request)
    await once(socket, 'close')
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`))
    expect(head).toContain('content-type: application/problem+json')
    expect(head).toContain(`content-length: ${body.length}`)
    expect(JSON.parse(body)).toEqual({ type: 'about:blank', title: STATUS_CODES[status], status, detail })
  },
)
