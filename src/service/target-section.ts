import { z } from 'zod'
import { isMap } from '../schema/path.ts'
import { baseAddress, headerValue, LONGEST_NAME, nameOfTarget, text } from '../schema/scalars.ts'
import { secret } from '../schema/secret.ts'
import { completed, section } from '../schema/section.ts'
import { variables } from '../schema/variables.ts'
import { hostOf } from '../schema/web-address.ts'

const DOMAIN = 'cometchat.io'
const REGIONS = ['us', 'eu', 'in'] as const
const A_REGION = 'one of `us`, `eu`, `in`; for another region or a dedicated host, set `base_url` instead'

const webhook = section({
  // The Basic scheme sends both in one text, separated by a colon (RFC 7617).
  username: text('a user name without colon', (name) => !name.includes(':')).describe(
    'User name that the webhook sends',
  ),
  password: secret(text('a password'), {
    of: 'the password',
    about: 'Password that the webhook sends',
    example: 'CALLWATCH_HOOK_PASSWORD',
  }),
})

const targetKeys = section(
  {
    name: nameOfTarget().optional().describe('Value of the label `target`; default: app_id, or the host of base_url'),
    formerly: nameOfTarget().optional().describe('The name that this target had before: all its data continues'),
    app_id: text('an app id of letters, digits and hyphens, in quotes', (id) => /^[a-z\d-]+$/i.test(id))
      .meta({ pattern: '^[A-Za-z0-9-]+$' })
      .optional()
      .describe('Id of the app')
      .register(variables, { name: 'CALLWATCH_APP_ID' }),
    region: z
      .enum(REGIONS, { error: A_REGION })
      .optional()
      .describe('Region of the app')
      .register(variables, { name: 'CALLWATCH_REGION', unless: ['base_url'] }),
    base_url: baseAddress()
      .optional()
      .describe('URL of the calls service, instead of app_id and region')
      .register(variables, { name: 'CALLWATCH_BASE_URL', unless: ['region'] }),
    chat_base_url: baseAddress().optional().describe('With base_url: URL of the chat service'),
    api_key: secret(headerValue('the key'), {
      of: 'the key',
      about: 'A key of scope fullAccess',
      variable: 'CALLWATCH_API_KEY',
      fileVariable: 'CALLWATCH_API_KEY_FILE',
    }),
    on_behalf_of: headerValue('a uid').optional().describe('List only the calls of this user'),
    webhook: webhook
      .optional()
      .describe('Accept webhooks of the calls service at POST /hooks/<name>, as hints to poll'),
    query: z
      .record(z.string(), queryValue())
      .prefault({})
      .superRefine(refusePaging, { when: () => true })
      .describe('Further parameters of List Calls'),
  },
  (target, report) => {
    const { name, base_url: baseUrl, app_id: defaultName = hostOf(String(baseUrl)) } = target
    if (name === undefined && typeof defaultName === 'string' && defaultName.length > LONGEST_NAME)
      report(['name'], 'missing; expected a name, because the app id or host is too long for one')
    if (target.base_url !== undefined) {
      if (target.region !== undefined) {
        report(
          ['region'],
          '`region` is not accepted together with `base_url`, which is the whole URL; expected one of them',
        )
      }
    } else {
      if (target.app_id === undefined)
        report(['app_id'], 'missing; expected an app id and its region, or a base address')
      else if (target.region === undefined) report(['region'], `missing; expected ${A_REGION}`)
      if (target.chat_base_url !== undefined) {
        report(
          ['chat_base_url'],
          '`chat_base_url` is accepted together with `base_url` only; expected `base_url` as well',
        )
      }
    }
  },
)

/** An entry of `targets`: one app of the calls service, with one key. */
export const targetSection = completed(targetKeys, ({ region, ...target }) => {
  const { appId } = target
  const address = (kind: 'call' | 'api') => `https://${appId}.${kind}-${region}.${DOMAIN}/v3`
  const baseUrl = target.baseUrl ?? address('call')
  return {
    ...target,
    name: target.name ?? appId ?? hostOf(baseUrl) ?? baseUrl,
    /** The addresses of the calls service and, if known, of the chat service: with the path prefix, without a trailing slash. */
    baseUrl,
    ...(target.baseUrl === undefined && { chatBaseUrl: address('api') }),
  }
})

export type TargetConfig = z.output<typeof targetSection>

function queryValue() {
  const error = 'a text, a number, true or false'
  return z.codec(z.union([z.string(), z.number(), z.boolean()], { error }), z.string(), {
    decode: String,
    encode: (value) => value,
  })
}

function refusePaging(query: unknown, context: z.RefinementCtx) {
  if (!isMap(query)) return
  for (const key of ['page', 'perPage'].filter((name) => Object.hasOwn(query, name))) {
    const message = `\`${key}\` is not accepted, because callwatch pages itself; expected another parameter`
    context.addIssue({ code: 'custom', path: [key], message, params: { sentence: true } })
  }
}
