import { connect } from 'node:net'
import os from 'node:os'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { AUTH, basic, serve, shownTarget, type ServeOptions } from '../../../kit/web/serve.ts'
import { statusFor } from '../../../unit/web/status-for.ts'

async function statusOf(host: string, path: string, options: ServeOptions = {}, headers: Record<string, string> = {}) {
  const { url } = await serve([shownTarget()], options)
  return statusFor(host, url + path, headers)
}

describe('on loopback without a password', () => {
  test.each(['/', '/metrics', '/api/v1/state', '/api/v1/events', '/api/v1/openapi.json', '/none'])(
    '%s is refused to a page of another name that resolves to this machine',
    async (path) => {
      expect(await statusOf('rebound.example:9464', path)).toBe(403)
    },
  )

  test.each(['/healthz', '/readyz', '/readyz?verbose'])('%s is answered by any name', async (path) => {
    expect(await statusOf('rebound.example:9464', path)).toBe(200)
  })

  test('a request without a Host, which no browser sends, is answered', async () => {
    const { url } = await serve([shownTarget()])
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write('GET /metrics HTTP/1.0\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1.1 200 /)
  })

  test.each([
    'localhost',
    'localhost.',
    'LOCALHOST:9464',
    '127.0.0.1:9464',
    '127.1.2.3',
    '[::1]:9464',
    // Some health checks leave out the brackets.
    '::1',
    '[0:0:0:0:0:0:0:1]:9464',
    '[::ffff:127.0.0.1]:9464',
  ])('requests for %s are answered', async (host) => {
    expect(await statusOf(host, '/metrics')).toBe(200)
  })

  test.each(['localhost.example', '127.0.0.1.example', '[::2]', '0.0.0.0', 'a b', '192.0.2.1'])(
    'requests for %j are refused',
    async (host) => {
      expect(await statusOf(host, '/metrics')).toBe(403)
    },
  )

  test.each([
    ['callwatch.example', 200],
    ['callwatch.example:443', 200],
    ['Callwatch.example', 200],
    ['other.example', 403],
  ])('with the page at https://callwatch.example:8443/, a request for %s gets %d', async (host, status) => {
    const publicUrl = 'https://callwatch.example:8443'
    expect(await statusOf(host, '/api/v1/state', { publicUrl })).toBe(status)
  })
})

test('a password is enough, whatever the name', async () => {
  expect(await statusOf('rebound.example', '/metrics', { auth: AUTH }, basic())).toBe(200)
})

test('a server that others reach has names that only they know', async () => {
  expect(await statusOf('callwatch.internal:9464', '/metrics', { host: '0.0.0.0' })).toBe(200)
})

describe('a server on `::`', () => {
  const statuses = async (listener: 'url' | 'hooksUrl') => {
    const served = await serve([shownTarget()], { host: '::', hooks: { host: '::', port: 0 } })
    const { port } = new URL(served[listener])
    const ask = async (host: string) => (await fetch(`http://${host}:${port}/none`).catch(() => undefined))?.status
    return [await ask('127.0.0.1'), await ask('[::1]')]
  }

  test.each(['url', 'hooksUrl'] as const)('is reached by IPv4 and by IPv6: %s', async (listener) => {
    expect(await statuses(listener)).toEqual([404, 404])
  })

  test.each(['url', 'hooksUrl'] as const)('is reached by IPv4 on a machine without IPv6: %s', async (listener) => {
    const spy = vi.spyOn(os, 'networkInterfaces').mockReturnValue({ lo: [] })
    onTestFinished(() => spy.mockRestore())
    expect(await statuses(listener)).toEqual([404, undefined])
  })
})
