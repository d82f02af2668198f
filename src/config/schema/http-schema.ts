import { missingSecret } from './missing-secret.ts'
import { aSecret, fileName, text, wholeNumber } from './scalars.ts'
import { section } from './section.ts'

const auth = section(
  {
    // The scheme Basic sends both in one text, with a colon after the name (RFC 7617).
    username: text('a user name without colon and control characters', (name) => !/[:\p{Cc}]/u.test(name)).describe(
      'Name of the user',
    ),
    password: text('a password without control characters', (password) => !/\p{Cc}/u.test(password))
      .optional()
      .describe('Password of the user; a secret')
      .meta(aSecret('CALLWATCH_PASSWORD')),
    password_file: fileName().optional().describe('File that holds the password, in place of password'),
  },
  missingSecret('password', 'the password'),
)

const tls = section({
  cert_file: fileName().describe('File that holds the certificate (PEM), with those that it rests on'),
  key_file: fileName().describe('File that holds the key of the certificate (PEM)'),
})

/** The section `http`. */
export const httpSchema = section({
  host: text('a host name or an address').prefault('0.0.0.0').describe('Where callwatch listens'),
  port: wholeNumber(0, 65_535).prefault(9464).describe('Port where callwatch listens; 0 takes a free one'),
  auth: auth.optional().describe('Asked for by all but /healthz and /readyz; default: nobody is asked'),
  tls: tls.optional().describe('HTTPS in place of HTTP; a certificate that is renewed on disk is taken over'),
})
