import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { maskConfig } from '../../../src/config/mask-config.ts'
import { selfSigned } from '../../kit/commands/self-signed.ts'
import { folderWith } from '../../unit/config/folder-with.ts'
import { problemsWhenLoading } from '../../unit/config/problems-when-loading.ts'

const env = { CALLWATCH_APP_ID: 'a1', CALLWATCH_REGION: 'eu', CALLWATCH_API_KEY: 'k' }
const YAML = 'http: { tls: { cert_file: tls/cert.pem, key_file: tls/key.pem } }'

/** The problems with a certificate and a key like these. */
function problems(cert: string, key: string): string {
  const cwd = folderWith({ 'etc/callwatch.yaml': YAML, 'etc/tls/cert.pem': cert, 'etc/tls/key.pem': key })
  return problemsWhenLoading({ file: 'etc/callwatch.yaml', env, cwd })
}

test('a certificate and its key are read from the folder of the file, and printed by their names only', () => {
  const { cert, key } = selfSigned()
  const cwd = folderWith({ 'etc/callwatch.yaml': YAML, 'etc/tls/cert.pem': cert, 'etc/tls/key.pem': key })
  const config = loadConfig({ file: 'etc/callwatch.yaml', env, cwd })
  expect(config.http.tls).toEqual({ certFile: 'tls/cert.pem', keyFile: 'tls/key.pem', cert, key })
  const printed = maskConfig(config)
  expect(printed).toContain('  tls:\n    cert_file: tls/cert.pem\n    key_file: tls/key.pem\n')
  expect(printed).not.toContain('-----BEGIN')
})

test('what is no certificate, no key, or the key of another certificate is refused, and not shown', () => {
  const [one, other] = [selfSigned(), selfSigned()]
  expect(problems('hunter2', one.key)).toBe(
    'etc/callwatch.yaml:1:16: http.tls.cert_file: found no certificate in the file; expected one in PEM, with its intermediate certificates',
  )
  expect(problems(one.cert, 'hunter2')).toBe(
    'etc/callwatch.yaml:1:41: http.tls.key_file: found no usable private key in the file; expected the key of the certificate in PEM, without a passphrase',
  )
  expect(problems(one.cert, other.key)).toBe(
    'etc/callwatch.yaml:1:41: http.tls.key_file: the key in the file is the key of another certificate; expected the one of `http.tls.cert_file`',
  )
})

test('a key that is given in place of its file is not shown', () => {
  const { cert, key } = selfSigned()
  const yaml = `http: { tls: { cert_file: cert.pem, key_file: ${JSON.stringify(key)} } }`
  const cwd = folderWith({ 'callwatch.yaml': yaml, 'cert.pem': cert })
  expect(problemsWhenLoading({ file: 'callwatch.yaml', env, cwd })).toMatch(
    /^\S+ http\.tls\.key_file: the file named there /,
  )
})
