import { writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { emptyFolder, start } from '../../kit/commands/callwatch.ts'
import { selfSigned } from '../../kit/commands/self-signed.ts'

/** A daemon that serves HTTPS by a certificate in a file. */
async function serving() {
  const { url, close, keys } = await startSimulator()
  onTestFinished(close)
  const folder = emptyFolder()
  const write = ({ cert, key }: { cert: string; key: string }) => {
    writeFileSync(join(folder, 'tls.crt'), cert)
    writeFileSync(join(folder, 'tls.key'), key)
  }
  const first = selfSigned()
  write(first)
  const yaml = `
targets: [{ name: a, base_url: '${url}', api_key: '${keys.fullAccess}' }]
store: { path: ':memory:' }
http: { host: 127.0.0.1, port: 0, tls: { cert_file: tls.crt, key_file: tls.key } }
`
  writeFileSync(join(folder, 'callwatch.yaml'), yaml)
  const running = start(['run', '--config', join(folder, 'callwatch.yaml')])
  const [, page] = await running.printed(/"url":"([^"]+)"/)
  return { running, page: page!, first, write }
}

/** A response over a new connection, and the fingerprint of the certificate. */
async function get(url: string, ca: string): Promise<{ response: IncomingMessage; fingerprint: string }> {
  const sent = request(url, { ca, agent: false })
  sent.end()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this event brings
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of an https request it is one
  const { fingerprint256 } = (response.socket as TLSSocket).getPeerCertificate()
  return { response, fingerprint: fingerprint256 }
}

test('http.tls serves HTTPS, and reloads a renewed certificate without closing a connection', async () => {
  const { running, page, first, write } = await serving()
  expect(page).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/$/)
  const { response: feed, fingerprint } = await get(`${page}api/v1/events`, first.cert)
  onTestFinished(() => void feed.destroy())
  expect(feed.statusCode).toBe(200)

  const second = selfSigned()
  write(second)
  running.child.kill('SIGHUP')
  await running.printed(/was reloaded; changed: http/)
  const renewed = await get(`${page}healthz`, second.cert)
  expect(renewed.response.statusCode).toBe(200)
  expect(renewed.fingerprint).not.toBe(fingerprint)
  expect(feed.closed).toBe(false)

  write({ ...second, key: first.key })
  running.child.kill('SIGHUP')
  await running.printed(/was refused, .*http\.tls\.key_file: the key in the file is the key of another certificate/)
  expect((await get(`${page}healthz`, second.cert)).fingerprint).toBe(renewed.fingerprint)
})
