import { z } from 'zod'
import { fileName, nearbyBaseAddress, text, wholeNumber } from '../schema/scalars.ts'
import { password } from '../schema/secret.ts'
import { completed, section } from '../schema/section.ts'
import { variables } from '../schema/variables.ts'

const auth = section({
  // The Basic scheme sends both in one text, separated by a colon (RFC 7617).
  username: text('a user name without colon and control characters', (name) => !/[:\p{Cc}]/u.test(name)).describe(
    'Name of the user',
  ),
  password: password('CALLWATCH_PASSWORD'),
})

const tls = section({
  cert_file: fileName().describe('File with the certificate chain (PEM)'),
  key_file: fileName().describe('File with its private key (PEM)'),
})

const hooks = section({
  host: text('a host name or an address').prefault('::').describe('Address of that listener'),
  port: wholeNumber(0, 65_535).prefault(9465).describe('Port of that listener; 0: any free one'),
})

const httpKeys = section({
  host: text('a host name or an address')
    .optional()
    .describe('Address to listen on; default: 127.0.0.1, or :: (all) with auth')
    .register(variables, { name: 'CALLWATCH_HTTP_HOST' }),
  port: wholeNumber(0, 65_535)
    .prefault(9464)
    .describe('Port to listen on; 0: any free one')
    .register(variables, { name: 'CALLWATCH_HTTP_PORT' }),
  public_url: nearbyBaseAddress()
    .optional()
    .describe('Address of the page as users reach it: messages link to it, and it may change silences'),
  auth: auth.optional().describe('User and password that all but /healthz and /readyz require; default: none'),
  find: z.boolean().optional().describe("With auth: page and API may search for a user's calls; default: they may not"),
  hooks: hooks.optional().describe('A listener for /hooks alone'),
  tls: tls.optional().describe('HTTPS instead of HTTP; a renewed certificate is reloaded'),
})

/** The section `http`. Without a password callwatch listens on loopback only, unless the file names another address. */
export const httpSection = completed(httpKeys, ({ host, ...http }) => ({
  ...http,
  host: host ?? (http.auth === undefined ? '127.0.0.1' : '::'),
}))

/** The content of the files of `tls` (PEM): a certificate chain and its private key, which is a secret. */
export type Certificate = { cert: string; key: string }

/** The section with the content of its files. */
export type HttpConfig = z.output<typeof httpSection> & { tls?: Certificate }

/** The address at which a browser on this machine finds the page. @param port where the server listens */
export function pageUrl({ host, tls }: { host: string; tls?: unknown }, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${tls === undefined ? 'http' : 'https'}://${name}:${port}/`
}
