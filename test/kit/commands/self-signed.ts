import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { onTestFinished } from 'vitest'
import { emptyFolder } from './callwatch.ts'

export type Certificate = { key: string; cert: string }

/** A self-signed certificate for 127.0.0.1 and this name. */
export function selfSigned(name = 'localhost'): Certificate {
  const folder = emptyFolder()
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=callwatch test', '-addext', `subjectAltName=IP:127.0.0.1,DNS:${name}`, '-days', '2']
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert]
  execFileSync('openssl', ['req', '-x509', ...made, ...subject], { stdio: 'ignore' })
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

/** One that this process trusts until the test ends. */
export function trusted(name?: string): Certificate {
  const certificate = selfSigned(name)
  const authorities = getCACertificates('default')
  setDefaultCACertificates([...authorities, certificate.cert])
  onTestFinished(() => setDefaultCACertificates(authorities))
  return certificate
}
